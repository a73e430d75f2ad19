/** `gazetteer cluster status` in trouble: what is lost or offline, since when, and what could not be read. */
import { expect, test } from "bun:test";
import { renderClusterStatus } from "./cluster-text.ts";

const NOW = Date.parse("2026-11-17T03:00:00Z");

test("a lost node, a server that is offline, and a part that cannot be read", () => {
  const node = { version: "0.1.0", revision: 8, lag: 0, sources: ["x"], since: NOW - 7_200_000 };
  const text = renderClusterStatus(
    {
      name: "lab",
      nodes: [
        { ...node, name: "a", node: "a.1", url: "http://a", held: ["x"], ageSeconds: 1 },
        {
          ...node,
          name: "b",
          node: "b.1",
          url: "http://b",
          held: [],
          ageSeconds: 600,
          lostSince: NOW - 600_000,
        },
      ],
      leases: [],
      engine: {
        stream: "GAZETTEER_lab",
        replicas: 3,
        servers: [
          { name: "n1", state: "leader" },
          { name: "n2", state: "offline", lag: 4, offlineSince: NOW - 60_000 },
        ],
        messages: 12,
        bytes: 4096,
      },
      errors: [
        { part: "leases", message: "the stream KV_GAZETTEER_lab_leases does not answer" },
        { part: "snapshots", message: "the stream OBJ_GAZETTEER_lab_snapshots does not answer" },
      ],
    },
    { colour: false, now: NOW },
  );
  expect(text).toBe(`cluster lab: 1 node and 1 lost, 1 source running

NODE  STATE  URL       VERSION  REVISION  LAG  RUNS  SINCE                 AGE  TROUBLE
a     live   http://a  0.1.0    8         0    x     2026-11-17T01:00:00Z  1s   -
b     lost   http://b  0.1.0    8         0    -     2026-11-17T02:50:00Z  10m  -

SOURCE  RUNS ON  CONFIGURED ON
x       a        a, b

stream GAZETTEER_lab: 3 replicas, 12 messages, 4 KiB
1 NATS server of the stream is not known now

NATS SERVER  STATE    SINCE                 LAG
n1           leader   -                     -
n2           offline  2026-11-17T02:59:00Z  4

leases cannot be read: the stream KV_GAZETTEER_lab_leases does not answer
snapshots cannot be read: the stream OBJ_GAZETTEER_lab_snapshots does not answer
`);
});

test("without the list of nodes none is counted", () => {
  const errors = [{ part: "nodes" as const, message: "timeout" }];
  const overview = { name: "lab", nodes: [], leases: [{ source: "x", node: "a" }], errors };
  expect(renderClusterStatus(overview, { colour: false, now: NOW })).toStartWith(
    "cluster lab: nodes not known, 1 source running\n",
  );
});
