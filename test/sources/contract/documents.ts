/** The networks of the contract suite as documents of the `file` source, for the kinds that read one. */
import { type ContractRow, HOSTILE_TEXT, type NetworkName } from "./row.ts";

const device = (id: string) => ({ id, ports: [{ port: 1 }, { port: 2 }] });
const link = (from: string, to: string) => ({
  src: { device: from, port: 1 },
  dst: { device: to, port: 1 },
});
const host = (mac: string, elementId: string) => ({ mac, location: { elementId, port: 2 } });

const NETWORKS: Readonly<Record<NetworkName, object>> = {
  a: {
    devices: [device("x:1"), device("x:2")],
    links: [link("x:1", "x:2")],
    hosts: [host("02:00:00:00:00:01", "x:1")],
  },
  b: {
    devices: [device("x:2"), device("x:3")],
    links: [link("x:2", "x:3")],
    hosts: [host("02:00:00:00:00:02", "x:3")],
  },
  malformed: { devices: [device("x:1"), device("has space")] },
  hostile: {
    devices: [
      { ...device("x:1"), mfr: HOSTILE_TEXT, annotations: { name: HOSTILE_TEXT, [HOSTILE_TEXT]: "x" } },
      device("x:<script>alert(1)</script>"),
    ],
    links: [{ ...link("x:1", "x:<script>alert(1)</script>"), annotations: { note: HOSTILE_TEXT } }],
    hosts: [{ ...host("02:00:00:00:00:01", "x:1"), annotations: { name: HOSTILE_TEXT } }],
  },
};

export const documentOf = (network: NetworkName): string => JSON.stringify(NETWORKS[network], undefined, 1);

/** What a row has in common for all kinds that read a document. */
export const DOCUMENT_ROW: Omit<ContractRow, "start" | "misbehaviours"> = {
  shown: {
    a: { devices: ["x:1", "x:2"], links: ["x:1/1-x:2/1"], hosts: ["02:00:00:00:00:01/None"] },
    b: { devices: ["x:2", "x:3"], links: ["x:2/1-x:3/1"], hosts: ["02:00:00:00:00:02/None"] },
  },
  malformed: "refused",
  hostileDevice: "x:1",
};
