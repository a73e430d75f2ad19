/** The parameter `drift` of `get`, `watch` and `diff`: what differs from the intended network, in the terminal. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { CREDENTIALS, type Harness, openHarness } from "../api/harness.ts";
import { commitPlanned, plannedDevice, plannedHost } from "../api/planned-network.ts";
import { runCommand } from "../support/command.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness();
  await commitPlanned(harness, [
    plannedDevice("dev:a", "planned"),
    plannedDevice("dev:b", "missing"),
    plannedDevice("dev:c", "differs"),
    plannedHost("00:00:00:00:00:01", "dev:a", "missing"),
  ]);
});
afterAll(() => harness.stop());

const run = (...args: string[]) =>
  runCommand([...args, "--url", harness.url], { env: { GAZETTEER_CREDENTIALS: CREDENTIALS } });

test("get shows the state, since when, and the fields that differ", async () => {
  const { status, stdout } = await run("get", "devices", "drift=any");
  expect(status).toBe(0);
  const [head = "", missing = "", differs = "", ...rest] = stdout.split("\n");
  expect(head).toMatch(/ DRIFT +DRIFT SINCE +DIFFERS IN$/);
  expect(missing).toMatch(/^dev:b .* missing +2026-11-15T00:00:00.000Z +-$/);
  expect(differs).toMatch(/^dev:c .* differs +2026-11-15T00:00:00.000Z +hw$/);
  expect(rest).toEqual([""]);
  expect((await run("get", "devices", "drift=missing,differs", "-o", "name")).stdout).toBe("dev:b\ndev:c\n");
  expect((await run("get", "devices")).stdout).not.toContain("dev:b");
});

test("get of the topology has the sums", async () => {
  const [head = "", counts = ""] = (await run("get", "topology", "drift=any")).stdout.split("\n");
  expect(head).toMatch(/ MISSING +UNPLANNED +DIFFERS$/);
  expect(counts).toMatch(/^2 .* 2 +0 +1$/);
});

test("diff takes it, and names the state of what was added", async () => {
  const { stdout } = await run("diff", "0", "devices", "drift=any");
  expect(stdout).toMatch(/^\+ device dev:b {2}.*drift: missing$/m);
  expect(stdout).toMatch(/^\+ device dev:c {2}.*drift: differs \(hw\)$/m);
});
