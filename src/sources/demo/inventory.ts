/** Creates the claims of planned entities, by pure functions of the number in the plan and whether the entity is up. */
import type { DeviceClaim, HostClaim, LinkClaim, PortClaim } from "../../model/claim.ts";
import { hash32 } from "./demo-random.ts";
import { type EquipmentLayer, type Model, portRange, SPECS } from "./equipment.ts";
import type {
  AttachmentPoint,
  HostIdentity,
  NetworkPlan,
  PlannedCable,
  PlannedDevice,
} from "./network-plan.ts";

export interface DemoInventory {
  device(device: number, up: boolean): DeviceClaim;
  port(device: number, port: number, up: boolean): PortClaim;
  link(cable: PlannedCable, direction: "forward" | "reverse", up: boolean): LinkClaim;
  host(identity: HostIdentity, attachment: AttachmentPoint): HostClaim;
}

export function createInventory({ devices, sites, edges }: NetworkPlan, seed: number): DemoInventory {
  const ids = devices.map(({ layer }, device) => deviceId(layer, device));
  // All devices of one layer at one site have the same model.
  const modelOf = ({ layer, site }: PlannedDevice): Model => {
    const { models } = SPECS[layer];
    return models[hash32(seed, site, 4) % models.length] ?? models[0];
  };
  const getPlanned = (device: number): PlannedDevice => {
    const found = devices[device];
    if (!found) throw new RangeError(`the plan has no device ${device}`);
    return found;
  };

  return {
    device(device, up) {
      const plannedDevice = getPlanned(device);
      const spec = SPECS[plannedDevice.layer];
      const model = modelOf(plannedDevice);
      const chance = hash32(seed, device, 3);
      const site = sites[plannedDevice.site];
      const address = managementAddress(device);
      return {
        id: ids[device] ?? "",
        type: spec.type,
        available: up,
        role: up ? "MASTER" : "NONE",
        mfr: model.mfr,
        hw: model.hw,
        sw: model.sw[chance % model.sw.length] ?? model.sw[0],
        serial:
          model.serialPrefix + (chance.toString(36) + device.toString(36)).toUpperCase().padStart(10, "0"),
        driver: model.driver,
        chassisId: (device + 1).toString(16),
        annotations: {
          name: `${site?.code}-${spec.short}${plannedDevice.ordinal}`,
          layer: plannedDevice.layer,
          site: site?.code ?? "",
          managementAddress: address,
          // A switch connects to the controller from an ephemeral port; a router listens on the NETCONF port.
          channelId: `${address}:${spec.protocol === "NETCONF" ? 830 : 32_768 + (chance % 28_000)}`,
          protocol: spec.protocol,
          ...(plannedDevice.layer === "core" &&
            site && {
              city: site.city,
              latitude: site.latitude.toFixed(4),
              // The second router of a site is in the next building.
              longitude: (site.longitude + (plannedDevice.ordinal - 1) * 0.02).toFixed(4),
            }),
        },
      };
    },

    port(device, port, up) {
      const plannedDevice = getPlanned(device);
      const { speed, type } = portRange(plannedDevice.layer, port);
      return {
        element: ids[device] ?? "",
        port: String(port),
        isEnabled: up,
        type,
        portSpeed: speed,
        annotations: { portName: modelOf(plannedDevice).portName(port) },
      };
    },

    link(cable, direction, up) {
      const a = { port: String(cable.aPort), device: ids[cable.a] ?? "" };
      const b = { port: String(cable.bPort), device: ids[cable.b] ?? "" };
      return {
        src: direction === "forward" ? a : b,
        dst: direction === "forward" ? b : a,
        type: "DIRECT",
        state: up ? "ACTIVE" : "INACTIVE",
        verified: true,
        ...(cable.km !== undefined && {
          // Light in fibre takes about 5 µs per kilometre.
          annotations: { lengthKm: String(cable.km), latencyMs: (cable.km * 0.005).toFixed(2) },
        }),
      };
    },

    host({ mac, vlan, v4, v6, name }, attachment) {
      return {
        mac,
        vlan,
        ipAddresses: v6 === undefined ? [v4] : [v4, v6],
        locations: [
          { elementId: ids[edges[attachment.edge]?.device ?? 0] ?? "", port: String(attachment.port) },
        ],
        annotations: { name },
      };
    },
  };
}

/** An address from a block that is outside the subnets of the hosts. */
const managementAddress = (device: number): string =>
  `10.254.${Math.floor(device / 254)}.${1 + (device % 254)}`;

function deviceId(layer: EquipmentLayer, device: number): string {
  return SPECS[layer].protocol === "NETCONF"
    ? `netconf:${managementAddress(device)}:830`
    : `of:${(device + 1).toString(16).padStart(16, "0")}`;
}
