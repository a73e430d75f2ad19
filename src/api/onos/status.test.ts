import { expect, test } from "bun:test";
import { clusterNode, type OnosStatusPath, ownNode, parseOnosStatusPath } from "./status.ts";

test.each<[path: string, parsed: OnosStatusPath | undefined]>([
  ["/onos/v1/system", { read: "system" }],
  ["/onos/v1/system/", { read: "system" }],
  ["/onos/v1/cluster", { read: "nodes" }],
  ["/onos/v1/cluster/a%20b/", { read: "node", id: "a b" }],
  ["/onos/v1/system/x", undefined],
  ["/onos/v1/cluster/x/y", undefined],
  ["/onos/cluster", undefined],
  ["/controller/v1/system", undefined],
])("%s", (path, parsed) => expect(parseOnosStatusPath(path)).toEqual(parsed));

const NODE = {
  name: "a",
  node: "a.1",
  url: "https://[2001:db8::1]/",
  version: "1",
  revision: 1,
  lag: 0,
  sources: [],
  held: [],
  since: 1_700_000_000_123,
  ageSeconds: 0,
};

test("a node of the cluster has ONOS's fields, in its order", () => {
  expect(JSON.stringify(clusterNode(NODE))).toBe(
    '{"id":"a","ip":"2001:db8::1","tcpPort":443,"status":"READY","lastUpdate":"1700000000123",' +
      '"humanReadableLastUpdate":"connected since 2023-11-14T22:13:20Z"}',
  );
  expect(clusterNode({ ...NODE, trouble: "slow" }).status).toBe("ACTIVE");
  expect(clusterNode({ ...NODE, trouble: "slow", lostSince: NODE.since + 1000 })).toMatchObject({
    status: "INACTIVE",
    lastUpdate: "1700000001123",
    humanReadableLastUpdate: "disconnected since 2023-11-14T22:13:21Z",
  });
});

test("a node that listens on every address has its name, or an address of the machine", () => {
  expect(clusterNode({ ...NODE, url: "http://0.0.0.0:8181" })).toMatchObject({ ip: "a", tcpPort: 8181 });
  const { id, ip } = ownNode({ name: undefined, host: "::", port: 1, isReady: true });
  expect(id).toBe(ip);
  expect(ip).not.toBe("::");
});
