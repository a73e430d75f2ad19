/** `gazetteer path` against a running service: paths with their ports, and why there is none. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PathExplanation } from "../../src/model/path-explanation.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";

const HOST = "00:00:00:00:00:01/None";
const NETWORK = `
devices:
  - { id: a, annotations: { name: "leaf-1", managementAddress: 192.0.2.1 } }
  - { id: b, annotations: { name: "leaf-2" } }
  - { id: c, annotations: { name: "twin" } }
  - { id: d, annotations: { name: "twin" } }
links:
  - { src: { device: a, port: 1 }, dst: { device: b, port: 2 } }
  - { src: { device: b, port: 2 }, dst: { device: a, port: 1 } }
  - { src: { device: b, port: 3 }, dst: { device: c, port: 1 }, state: INACTIVE }
hosts:
  - { mac: "00:00:00:00:00:01", locations: [{ elementId: a, port: 3 }], ipAddresses: [10.0.0.1] }
  - { mac: "00:00:00:00:00:02", locations: [{ elementId: b, port: 4 }], ipAddresses: [10.0.0.2], annotations: { name: "web, 2" } }
  - { mac: "00:00:00:00:00:03", locations: [{ elementId: b, port: 5 }], annotations: { name: "double" } }
  - { mac: "00:00:00:00:00:04", locations: [{ elementId: b, port: 6 }], annotations: { name: "double" } }
  - { mac: "00:00:00:00:00:05", locations: [{ elementId: b, port: 7 }], annotations: { name: "a" } }
ports:
  - { element: a, port: 1, annotations: { portName: "eth1" } }
  - { element: b, port: 4, annotations: { portName: "eth4" } }
`;

let service: Service;
beforeAll(async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "network.yaml"), NETWORK);
  const config = join(folder, "gazetteer.yaml");
  writeFileSync(config, `sources:\n  - { type: file, name: file, path: ${join(folder, "network.yaml")} }\n`);
  service = await startService({ args: ["--data", ":memory:", "--config", config] });
});

const run = (...args: string[]) =>
  runCommand(args, {
    env: { GAZETTEER_URL: service.url, GAZETTEER_CREDENTIALS: service.credentials },
  });
const path = (...args: string[]) => run("path", ...args);

test("lists the paths with their ports, by ids or names", async () => {
  const { status, stdout, stderr } = await path(HOST, "leaf-2");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(
    `${HOST} to leaf-2: 1 path, 2 hops\n1  ${HOST} > leaf-1/3, leaf-1/1[eth1] > leaf-2/2\n`,
  );
});

test.each([
  ["10.0.0.1", "10.0.0.2"],
  ["00-00-00-00-00-01", "web, 2"],
])("hosts are found by address and name: %s %s", async (from, to) => {
  const { status, stdout, stderr } = await path(from, to);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(
    `${HOST} to web, 2: 1 path, 3 hops\n1  ${HOST} > leaf-1/3, leaf-1/1[eth1] > leaf-2/2, leaf-2/4[eth4] > web, 2\n`,
  );
});

test("an id goes before the name of a host, and a device is found by its address too", async () => {
  expect((await path("a", "leaf-2")).stdout).toStartWith("leaf-1 to leaf-2: 1 path");
  expect((await path("192.0.2.1", "LEAF-2")).stdout).toStartWith("leaf-1 to leaf-2: 1 path");
});

test("says which end is unknown", async () => {
  const { status, stdout } = await path("leaf-1", "10.0.0.9");
  expect([status, stdout]).toEqual([
    1,
    'leaf-1 to 10.0.0.9: no path\n"10.0.0.9" is no id, name or address of a device or host\n',
  ]);
  expect((await path("nobody", "nothing")).stdout).toContain(
    '"nobody" is no id, name or address of a device or host\n"nothing" is no id',
  );
});

test.each([
  ["get", ["get", "hosts", "10.0.0.2", "-o", "name"], "00:00:00:00:00:02/None\n"],
  ["get", ["get", "hosts", "web, 2", "-o", "name"], "00:00:00:00:00:02/None\n"],
  ["get", ["get", "devices", "Leaf-2", "-o", "name"], "b\n"],
  ["get", ["get", "links", "leaf-1/1-leaf-2/2", "-o", "name"], "a/1-b/2\n"],
  ["explain", ["explain", "10.0.0.2"], "host 00:00:00:00:00:02/None\n"],
  ["explain", ["explain", "leaf-1/1"], "port a/1\n"],
])("%s finds what a name or an address means", async (_command, args, expected) => {
  const { stdout, stderr } = await run(...args);
  expect(stderr).toBe("");
  expect(stdout).toStartWith(expected);
});

test("tables, changes and problems have the names of devices and ports", async () => {
  expect((await run("get", "links", "id=a/1-b/2", "--no-headers")).stdout).toMatch(
    /^a\/1 +leaf-1\/eth1 +b\/2 +leaf-2 +DIRECT/,
  );
  expect((await run("get", "hosts", "ip=10.0.0.2", "--no-headers")).stdout).toContain("b/4  ");
  expect((await run("get", "hosts", "ip=10.0.0.2", "--no-headers")).stdout).toContain("leaf-2/eth4");
  const { stdout } = await run("diff", "0", "now");
  expect(stdout).toContain("+ device a (leaf-1)  ");
  expect(stdout).toContain("+ link   a/1-b/2 (leaf-1/1[eth1] > leaf-2/2)  ");
  expect(stdout).toContain(
    "+ host   00:00:00:00:00:02/None (web, 2)  ipAddresses: 10.0.0.2  locations: leaf-2/4[eth4]",
  );
  expect(stdout).toContain("+ port   a/1 (leaf-1/1[eth1])  ");
  expect((await run("problems")).stdout).toContain("leaf-2/3");
});

test("says what is down between the ends, with status 1", async () => {
  const { status, stdout } = await path("leaf-1", "c");
  expect(status).toBe(1);
  expect(stdout).toStartWith(
    `leaf-1 to twin: no path
leaf-1 reaches 2 devices
twin is reached from 1 device
1 of these must come back for a path:
  link leaf-2/3 > twin/1 inactive since `,
  );
  const json: PathExplanation = JSON.parse((await path("leaf-1", "c", "-o", "json")).stdout);
  expect(json.none?.obstacles?.map(({ id }) => id)).toEqual(["b/3-c/1"]);
});

test("a name that several have, and a missing operand, are refused", async () => {
  expect((await path("leaf-1", "twin")).stderr).toContain('2 devices are called "twin": "c", "d"');
  expect((await path("leaf-1", "double")).stderr).toContain(
    'several hosts are called "double": 00:00:00:00:00:03/None, 00:00:00:00:00:04/None; give an id',
  );
  expect((await path("leaf-1")).status).toBe(2);
});
