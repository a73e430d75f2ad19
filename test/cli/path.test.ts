/** `gazetteer path` against a running service: paths with their ports, and why there is none. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PathExplanation } from "../../src/model/path-explanation.ts";
import { temporaryFolder } from "../support/folder.ts";
import { runCommand, type Service, startService } from "../support/service.ts";

const HOST = "00:00:00:00:00:01/None";
const NETWORK = `
devices:
  - { id: a, annotations: { name: "leaf-1" } }
  - { id: b, annotations: { name: "leaf-2" } }
  - { id: c, annotations: { name: "twin" } }
  - { id: d, annotations: { name: "twin" } }
links:
  - { src: { device: a, port: 1 }, dst: { device: b, port: 2 } }
  - { src: { device: b, port: 2 }, dst: { device: a, port: 1 } }
  - { src: { device: b, port: 3 }, dst: { device: c, port: 1 }, state: INACTIVE }
hosts:
  - { mac: "00:00:00:00:00:01", locations: [{ elementId: a, port: 3 }] }
`;

let service: Service;
beforeAll(async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "network.yaml"), NETWORK);
  const config = join(folder, "gazetteer.yaml");
  writeFileSync(config, `sources:\n  - { type: file, name: file, path: ${join(folder, "network.yaml")} }\n`);
  service = await startService({ args: ["--data", ":memory:", "--config", config] });
});

const path = (...args: string[]) =>
  runCommand(["path", ...args], {
    env: { GAZETTEER_URL: service.url, GAZETTEER_CREDENTIALS: service.credentials },
  });

test("lists the paths with their ports, by ids or names", async () => {
  const { status, stdout, stderr } = await path(HOST, "leaf-2");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(`${HOST} to leaf-2: 1 path, 2 hops\n1  ${HOST} > leaf-1/3, leaf-1/1 > leaf-2/2\n`);
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
  expect((await path("leaf-1", "twin")).stderr).toContain('several have the name "twin": c, d');
  expect((await path("leaf-1")).status).toBe(2);
});
