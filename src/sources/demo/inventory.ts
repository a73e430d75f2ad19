/** Claims of the planned entities: pure functions from a number in the plan, and whether it is up, to a claim. */
import type { DeviceClaim, HostClaim, LinkClaim, PortClaim } from "../../model/claim.ts";
import type { AttachmentPoint, Cable, HostIdentity, Plan, PlannedDevice } from "./network-plan.ts";
import { hash32 } from "./seeded-random.ts";

export interface DemoInventory {
  device(device: number, up: boolean): DeviceClaim;
  port(device: number, port: number, up: boolean): PortClaim;
  link(cable: Cable, direction: "forward" | "reverse", up: boolean): LinkClaim;
  host(identity: HostIdentity, attachment: AttachmentPoint): HostClaim;
}

export function createInventory({ devices, sites, edges }: Plan, seed: number): DemoInventory {
  const ids = devices.map(({ layer }, device) => deviceId(layer, device));
  // One model per layer and site.
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

/** From a block that is outside the subnets of the hosts. */
const managementAddress = (device: number): string =>
  `10.254.${Math.floor(device / 254)}.${1 + (device % 254)}`;

function deviceId(layer: Layer, device: number): string {
  return SPECS[layer].protocol === "NETCONF"
    ? `netconf:${managementAddress(device)}:830`
    : `of:${(device + 1).toString(16).padStart(16, "0")}`;
}

/** The equipment: for each layer the models in use, and the numbers, names and speeds of their ports. */

const LAYERS = ["core", "spine", "leaf", "access"] as const;
export type Layer = (typeof LAYERS)[number];

interface Model {
  readonly mfr: string;
  readonly hw: string;
  /** Software releases in use. */
  readonly sw: readonly [string, ...string[]];
  readonly driver: string;
  readonly serialPrefix: string;
  readonly portName: (port: number) => string;
}

/** Consecutive ports of one type, from the end of the previous range to `upTo`. */
interface PortRange {
  readonly upTo: number;
  readonly speed: number;
  readonly type: NonNullable<PortClaim["type"]>;
}

interface LayerSpec {
  readonly type: NonNullable<DeviceClaim["type"]>;
  readonly short: string;
  readonly protocol: "NETCONF" | "OF_13";
  readonly ports: readonly [PortRange, ...PortRange[]];
  readonly models: readonly [Model, ...Model[]];
}

/** The first port of each layer that leads to the layer above; of a router, to the fabric below it. */
export const UPLINK = { core: 17, spine: 29, leaf: 49, access: 25 } as const;

const SPECS: Readonly<Record<Layer, LayerSpec>> = {
  core: {
    type: "ROUTER",
    short: "core",
    protocol: "NETCONF",
    ports: [{ upTo: 24, speed: 100_000, type: "fiber" }],
    models: [
      {
        mfr: "Juniper Networks",
        hw: "MX304",
        sw: ["23.4R2-S3", "22.4R3-S2"],
        driver: "juniper",
        serialPrefix: "JN",
        portName: (port) => `et-0/0/${port - 1}`,
      },
      {
        mfr: "Cisco Systems",
        hw: "8201-32FH",
        sw: ["IOS XR 7.11.2", "IOS XR 24.1.1"],
        driver: "cisco-xr",
        serialPrefix: "FOC",
        portName: (port) => `HundredGigE0/0/0/${port - 1}`,
      },
      {
        mfr: "Nokia",
        hw: "7750 SR-1",
        sw: ["TiMOS-C-23.10.R3"],
        driver: "nokia-sros",
        serialPrefix: "NS",
        portName: (port) => `1/1/c${port}/1`,
      },
    ],
  },
  spine: {
    type: "SWITCH",
    short: "spine",
    protocol: "OF_13",
    ports: [{ upTo: 32, speed: 100_000, type: "fiber" }],
    models: [
      {
        mfr: "Edgecore",
        hw: "AS7726-32X",
        sw: ["OF-DPA 3.0.5", "OF-DPA 3.0.6"],
        driver: "ofdpa3",
        serialPrefix: "EC",
        portName: (port) => `hundredGig0/${port}`,
      },
    ],
  },
  leaf: {
    type: "SWITCH",
    short: "leaf",
    protocol: "OF_13",
    ports: [
      { upTo: 48, speed: 25_000, type: "fiber" },
      { upTo: 56, speed: 100_000, type: "fiber" },
    ],
    models: [
      {
        mfr: "Edgecore",
        hw: "AS7326-56X",
        sw: ["OF-DPA 3.0.5", "OF-DPA 3.0.6"],
        driver: "ofdpa3",
        serialPrefix: "EC",
        portName: (port) => (port <= 48 ? `twentyFiveGig0/${port}` : `hundredGig0/${port}`),
      },
    ],
  },
  access: {
    type: "SWITCH",
    short: "acc",
    protocol: "OF_13",
    ports: [
      { upTo: 24, speed: 1_000, type: "copper" },
      { upTo: 28, speed: 10_000, type: "fiber" },
    ],
    models: [
      {
        mfr: "HPE Aruba",
        hw: "2930F-24G-4SFP+ JL253A",
        sw: ["WC.16.11.0020", "WC.16.11.0012", "WC.16.10.0025"],
        driver: "default",
        serialPrefix: "CN",
        portName: (port) => String(port),
      },
      {
        mfr: "Allied Telesis",
        hw: "x530L-28GTX",
        sw: ["AW+ 5.5.3-2.1"],
        driver: "default",
        serialPrefix: "AT",
        portName: (port) => `port1.0.${port}`,
      },
    ],
  },
};

export function portCount(layer: Layer): number {
  const { ports } = SPECS[layer];
  return (ports.at(-1) ?? ports[0]).upTo;
}

function portRange(layer: Layer, port: number): PortRange {
  const { ports } = SPECS[layer];
  return ports.find((range) => port <= range.upTo) ?? ports[0];
}
