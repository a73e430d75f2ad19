/** The `restconf` source: its peer is a RESTCONF server with OpenDaylight's topology, and without its stream. */
import { HTTP_LIMITS, type HttpReply, startHttpPeer } from "./http-peer.ts";
import { type ContractRow, HOSTILE_TEXT, type NetworkName } from "./row.ts";

const TOPOLOGY = "network-topology:network-topology";
const INVENTORY = "opendaylight-inventory:nodes";

const device = (id: string) => ({
  "node-id": id,
  "termination-point": ["1", "2"].map((port) => ({ "tp-id": `${id}:${port}` })),
});
const link = (from: string, to: string) => ({
  "link-id": `${from}:1`,
  source: { "source-node": from, "source-tp": `${from}:1` },
  destination: { "dest-node": to, "dest-tp": `${to}:1` },
});
const host = (mac: string, at: string) => ({
  "node-id": `host:${mac}`,
  "host-tracker-service:attachment-points": [{ "tp-id": `${at}:2` }],
});

const [X, Y, Z] = ["openflow:1", "openflow:2", "openflow:3"] as const;
const A = {
  node: [device(X), device(Y), host("02:00:00:00:00:01", X)],
  link: [link(X, Y)],
};
const NETWORKS: Readonly<Record<NetworkName, object>> = {
  a: A,
  b: { node: [device(Y), device(Z), host("02:00:00:00:00:02", Z)], link: [link(Y, Z)] },
  malformed: {
    node: [...A.node, "text", { "termination-point": [] }, { "node-id": "has space" }],
    link: [...A.link, { "link-id": "x" }],
  },
  hostile: {
    node: [device(X), device("x:<script>alert(1)</script>"), host("02:00:00:00:00:01", X)],
    link: [link(X, "x:<script>alert(1)</script>")],
  },
};
const hostileNode = {
  id: X,
  "flow-node-inventory:manufacturer": HOSTILE_TEXT,
  "flow-node-inventory:description": HOSTILE_TEXT,
  "node-connector": [{ id: `${X}:1`, "flow-node-inventory:name": HOSTILE_TEXT }],
};

function reply(path: string, shown: NetworkName): HttpReply {
  if (path.includes(TOPOLOGY)) {
    return json(200, { [TOPOLOGY]: { topology: [{ "topology-id": "flow:1", ...NETWORKS[shown] }] } });
  }
  if (path.includes(INVENTORY) && shown === "hostile") {
    return json(200, { [INVENTORY]: { node: [hostileNode] } });
  }
  return path.includes("/data/") ? json(409, error("data-missing")) : json(404, error("unknown-element"));
}

const error = (tag: string) => ({ errors: { error: [{ "error-tag": tag, "error-type": "protocol" }] } });
const json = (status: number, value: object): HttpReply => ({
  status,
  headers: { "content-type": "application/yang-data+json" },
  body: JSON.stringify(value),
});

const idOf = (n: number) => `of:${String(n).padStart(16, "0")}`;

export const row: ContractRow = {
  shown: {
    a: {
      devices: [idOf(1), idOf(2)],
      links: [`${idOf(1)}/1-${idOf(2)}/1`],
      hosts: ["02:00:00:00:00:01/None"],
    },
    b: {
      devices: [idOf(2), idOf(3)],
      links: [`${idOf(2)}/1-${idOf(3)}/1`],
      hosts: ["02:00:00:00:00:02/None"],
    },
  },
  malformed: 4,
  misbehaviours: ["huge", "endless", "slow"],
  hostileDevice: idOf(1),
  async start() {
    let shown: NetworkName = "a";
    const peer = await startHttpPeer(({ url = "" }) => reply(url, shown));
    return {
      ...peer,
      entry: {
        type: "restconf",
        url: `${peer.url}/rests`,
        intervalSeconds: 1,
        restartGraceSeconds: 0,
        ...HTTP_LIMITS,
      },
      async show(network) {
        shown = network;
      },
      [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
    };
  },
};
