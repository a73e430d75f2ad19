/** Devices and their ports. */
import Type from "typebox";
import { JSON_FORMAT } from "../../formats/formats.ts";
import { mapPaced, type Paced } from "../../lib/steps.ts";
import { canonicalPort } from "../../model/address.ts";
import { Device, Port } from "../../model/entity.ts";
import { portId } from "../../model/ids.ts";
import { ScalarFilter } from "../../query/filter.ts";
import { parameterSet } from "../../query/parameters.ts";
import { select } from "../../query/select.ts";
import type { NetworkState } from "../../view/view.ts";
import type { Dialect } from "../onos/dialect.ts";
import { DEVICE, PORT } from "../openapi/example-network.ts";
import { type Endpoint, ITEM_PARAMETERS } from "./endpoint.ts";
import { devicePartRepresentation, entityEndpoint } from "./entity.ts";
import { jsonList } from "./json-list.ts";
import { DOCUMENTS_TEXT, FILTERS_TEXT, listEndpoint, TARGETS_TEXT } from "./list.ts";
import { next } from "./paging.ts";

const listDevices = listEndpoint({
  id: "listDevices",
  tag: "Devices",
  summary: "Devices",
  description: `${FILTERS_TEXT} ${DOCUMENTS_TEXT} ${TARGETS_TEXT}`,
  kind: "devices",
  path: "/devices",
  typeName: "Device",
  schema: Type.Object({ devices: Type.Array(Device), next }, { $id: "DeviceList" }),
  example: { devices: [DEVICE] },
});

const listPorts = listEndpoint({
  id: "listPorts",
  tag: "Devices",
  summary: "Ports of all devices",
  description: `${FILTERS_TEXT} ${DOCUMENTS_TEXT}`,
  kind: "ports",
  path: "/devices/ports",
  typeName: "Port",
  schema: Type.Object({ ports: Type.Array(Port), next }, { $id: "PortList" }),
  example: { ports: [PORT] },
});

const getDevice = entityEndpoint({
  id: "getDevice",
  tag: "Devices",
  summary: "One device",
  description: "The device with this id, alias or name.",
  kind: "devices",
  path: "/devices/{id}",
  schema: Device,
  example: DEVICE,
  match: ([, ...id]) => (id.length > 0 ? id.join("/") : undefined),
});

const getDevicePorts: Endpoint<string> = {
  id: "getDevicePorts",
  tag: "Devices",
  summary: "One device with its ports",
  description: "The device with this id, alias or name, and its ports in order of number.",
  readName: "devicePorts",
  path: "/devices/{id}/ports",
  match: ([, ...rest]) =>
    rest.length > 1 && rest.at(-1) === "ports" ? rest.slice(0, -1).join("/") : undefined,
  parameters: parameterSet(ITEM_PARAMETERS),
  variants: [
    {
      formats: [JSON_FORMAT],
      schema: Type.Object({ ...Device.properties, ports: Type.Array(Port) }, { $id: "DeviceWithPorts" }),
      example: { ...DEVICE, ports: [PORT] },
      read: (context, id, query) =>
        devicePartRepresentation(context, query, id, {
          key: portsKey,
          changedAt: ({ devices, ports }) => Math.max(devices, ports),
          // biome-ignore lint/correctness/useYield: nothing of it grows with the network before it is sent
          *render(state, device) {
            const { dialect } = context;
            const open = `${dialect.entity("devices", device.text).slice(0, -1)},"ports":[`;
            return jsonList(open, portsOf(state, device.id, dialect), "]}");
          },
        }),
    },
  ],
};

const portsKey = (device: string): string => `ports of ${device}`;

const portsOf = (state: NetworkState, device: string, dialect: Dialect): Paced<string> =>
  mapPaced(select(state, "ports", [new ScalarFilter("ports", "element", [device])]), ({ text }) =>
    dialect.entity("ports", text),
  );

const getPort = entityEndpoint({
  id: "getPort",
  tag: "Devices",
  summary: "One port of a device",
  description: "The port with this number.",
  kind: "ports",
  path: "/devices/{id}/ports/{port}",
  schema: Port,
  example: PORT,
  match([, ...rest]) {
    const port = rest.length > 2 && rest.at(-2) === "ports" && canonicalPort(rest.at(-1) ?? "");
    return port ? portId(rest.slice(0, -2).join("/"), port) : undefined;
  },
});

export const DEVICE_ENDPOINTS = [listDevices, listPorts, getDevice, getDevicePorts, getPort];
