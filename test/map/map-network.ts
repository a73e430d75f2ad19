/** A network of two switches and a router with names, addresses and port names, and the service that has it in a file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const DEVICES = [
  { id: "of:0000000000000001", annotations: { name: "leaf1", managementAddress: "10.9.0.1" } },
  { id: "of:0000000000000002", annotations: { name: "leaf2", managementAddress: "2001:db8::2" } },
  { id: "router:R1", annotations: { name: "R1", managementAddress: "r1.example.net" } },
  // Two devices with one name: it names neither.
  { id: "a", annotations: { name: "same" } },
  { id: "b", annotations: { name: "same" } },
];
export const [LEAF1, LEAF2, ROUTER] = ["of:0000000000000001", "of:0000000000000002", "router:R1"];

const PORTS = [
  { element: LEAF1, port: "1", annotations: { portName: "eth1" } },
  { element: LEAF1, port: "2", annotations: { portName: "Ethernet1/2" } },
  { element: LEAF2, port: "7", annotations: { portName: "eth1" } },
  { element: ROUTER, port: "3", annotations: { portName: "xe-0/0/0" } },
];

const link = (src: readonly [string, string], dst: readonly [string, string]) => ({
  src: { device: src[0], port: src[1] },
  dst: { device: dst[0], port: dst[1] },
});
const CABLES = [
  [
    [LEAF1, "1"],
    [LEAF2, "7"],
  ],
  [
    [LEAF1, "2"],
    [ROUTER, "3"],
  ],
  [
    ["a", "1"],
    ["b", "1"],
  ],
] as const;

export const NETWORK = {
  devices: DEVICES.map((device) => ({ type: "SWITCH", available: true, ...device })),
  ports: PORTS.map((port) => ({ isEnabled: true, portSpeed: 10_000, ...port })),
  links: CABLES.flatMap(([a, b]) => [link(a, b), link(b, a)]),
  hosts: [],
};

export const LINKS = {
  leaf1ToLeaf2: `${LEAF1}/1-${LEAF2}/7`,
  leaf2ToLeaf1: `${LEAF2}/7-${LEAF1}/1`,
  leaf1ToRouter: `${LEAF1}/2-${ROUTER}/3`,
  routerToLeaf1: `${ROUTER}/3-${LEAF1}/2`,
} as const;

export interface MapService {
  readonly service: Service;
  /** The path of the configuration file. */
  readonly config: string;
  /** Writes the sections of the configuration, after that of the source. */
  configure(sections: object): void;
}

export async function startMapService(sections: object, args: readonly string[] = []): Promise<MapService> {
  const folder = temporaryFolder();
  const network = join(folder, "network.json");
  writeFileSync(network, JSON.stringify(NETWORK));
  const config = join(folder, "gazetteer.yaml");
  const configure = (given: object) =>
    // JSON is YAML.
    writeFileSync(config, JSON.stringify({ sources: [{ type: "file", path: network }], ...given }));
  configure(sections);
  const service = await startService({ args: ["--data", ":memory:", "--config", config, ...args] });
  const isLoaded = async () =>
    (await (await service.fetch("/controller/v1/topology")).json()).links === NETWORK.links.length;
  await until(isLoaded, { what: "the network", deadlineMs: 60_000 });
  return { service, config, configure };
}
