/** The equipment of the simulated network: for each layer the models, and the numbers, names and speeds of their ports. */
import type { DeviceClaim, PortClaim } from "../../model/claim.ts";

export type EquipmentLayer = "core" | "spine" | "leaf" | "access";

/** A model of a device. `software` are the releases in use. */
export type Model = readonly [
  portName: (port: number) => string,
  mfr: string,
  hw: string,
  software: readonly [string, ...string[]],
  driver: string,
  serialPrefix: string,
];

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

/** The first uplink port of each layer. Uplinks lead to the layer above; those of a router lead to the fabric below it. */
export const UPLINK = { core: 17, spine: 29, leaf: 49, access: 25 } as const;

const IOS_XR = ["IOS XR 7.11.2", "IOS XR 24.1.1"] as const;
const OFDPA = ["OF-DPA 3.0.5", "OF-DPA 3.0.6"] as const;
const ARUBA = ["WC.16.11.0020", "WC.16.11.0012", "WC.16.10.0025"] as const;

export const SPECS: Readonly<Record<EquipmentLayer, LayerSpec>> = {
  core: {
    type: "ROUTER",
    short: "core",
    protocol: "NETCONF",
    ports: [{ upTo: 24, speed: 100_000, type: "fiber" }],
    models: [
      [(n) => `et-0/0/${n - 1}`, "Juniper Networks", "MX304", ["23.4R2-S3", "22.4R3-S2"], "juniper", "JN"],
      [(n) => `HundredGigE0/0/0/${n - 1}`, "Cisco Systems", "8201-32FH", IOS_XR, "cisco-xr", "FOC"],
      [(n) => `1/1/c${n}/1`, "Nokia", "7750 SR-1", ["TiMOS-C-23.10.R3"], "nokia-sros", "NS"],
    ],
  },
  spine: {
    type: "SWITCH",
    short: "spine",
    protocol: "OF_13",
    ports: [{ upTo: 32, speed: 100_000, type: "fiber" }],
    models: [[(n) => `hundredGig0/${n}`, "Edgecore", "AS7726-32X", OFDPA, "ofdpa3", "EC"]],
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
      [
        (n) => `${n <= 48 ? "twentyFive" : "hundred"}Gig0/${n}`,
        "Edgecore",
        "AS7326-56X",
        OFDPA,
        "ofdpa3",
        "EC",
      ],
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
      [String, "HPE Aruba", "2930F-24G-4SFP+ JL253A", ARUBA, "default", "CN"],
      [(n) => `port1.0.${n}`, "Allied Telesis", "x530L-28GTX", ["AW+ 5.5.3-2.1"], "default", "AT"],
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
