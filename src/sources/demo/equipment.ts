/** The equipment of the simulated network: for each layer the models, and the numbers, names and speeds of their ports. */
import type { DeviceClaim, PortClaim } from "../../model/claim.ts";

export const LAYERS = ["core", "spine", "leaf", "access"] as const;
export type EquipmentLayer = (typeof LAYERS)[number];

export interface Model {
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

export interface LayerSpec {
  readonly type: NonNullable<DeviceClaim["type"]>;
  readonly short: string;
  readonly protocol: "NETCONF" | "OF_13";
  readonly ports: readonly [PortRange, ...PortRange[]];
  readonly models: readonly [Model, ...Model[]];
}

/** The first uplink port of each layer. Uplinks lead to the layer above; those of a router lead to the fabric below it. */
export const UPLINK = { core: 17, spine: 29, leaf: 49, access: 25 } as const;

export const SPECS: Readonly<Record<EquipmentLayer, LayerSpec>> = {
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

export function portCount(layer: EquipmentLayer): number {
  const { ports } = SPECS[layer];
  return (ports.at(-1) ?? ports[0]).upTo;
}

export function portRange(layer: EquipmentLayer, port: number): PortRange {
  const { ports } = SPECS[layer];
  return ports.find((range) => port <= range.upTo) ?? ports[0];
}
