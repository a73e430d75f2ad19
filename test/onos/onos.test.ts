/**
 * The alias `onos` against the responses of ONOS 2.7's own REST application, request by request, on the same network. They are
 * in fixtures/recording.json; test/peers/onos/recording.test.ts compares that file with ONOS itself.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { served } from "../support/served.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { NETWORK } from "./network.ts";
import { type ComparedResponse, nameOf, REQUESTS, readAll } from "./requests.ts";

const RECORDING = join(import.meta.dir, "fixtures/recording.json");

let service: Service;
let ours: Record<string, ComparedResponse>;
let recorded: Record<string, ComparedResponse>;

beforeAll(async () => {
  const file = join(temporaryFolder(), "network.json");
  writeFileSync(file, JSON.stringify(NETWORK));
  service = await startService({ args: ["--data", ":memory:", "--file", file, "--alias", "onos"] });
  await until(async () => (await service.fetch("/readyz")).status === 200, { what: "the file was read" });
  ours = await readAll((path, init) => served(() => service.fetch(`/onos/v1/${path}`, init)));
  recorded = await Bun.file(RECORDING).json();
});
afterAll(() => service?.stop());

describe("the same status and JSON as ONOS", () => {
  test.each(REQUESTS.map(nameOf))("%s", (name) => {
    const { status, body } = recorded[name] ?? {};
    expect(ours[name]?.status).toBe(status ?? 0);
    // An error of ONOS may be HTML; here it is always JSON.
    expect(ours[name]?.body).toEqual(status === 200 ? body : { code: status });
  });
});

/** docs/from-onos.md explains each. */
describe("differs from ONOS on purpose", () => {
  const { id: device } = NETWORK.devices[0];
  test.each([
    ["a device has no path to itself: an empty list, not 400", `paths/${device}/${device}`, 200],
    ["LOCAL selects links", `links?device=${device}&port=LOCAL`, 200],
    ["LOCAL is a connect point", `topology/broadcast/${device}:LOCAL`, 200],
    ["a text that is no host id is not found", "hosts/x", 404],
  ])("%s", async (_, path, status) => {
    expect((await service.fetch(`/onos/v1/${path}`)).status).toBe(status);
  });

  test("humanReadableLastUpdate is absolute, time is an epoch, order is by id", async () => {
    const { devices } = (await (await service.fetch("/onos/v1/devices")).json()) as {
      devices: { id: string; humanReadableLastUpdate: string }[];
    };
    for (const { humanReadableLastUpdate } of devices)
      expect(humanReadableLastUpdate).toMatch(/^(dis)?connected since \d{4}-/);
    const { time } = (await (await service.fetch("/onos/v1/topology")).json()) as { time: number };
    expect(Math.abs(Date.now() - time)).toBeLessThan(3_600_000);
    const { hosts } = (await (await service.fetch("/onos/v1/hosts")).json()) as { hosts: { id: string }[] };
    expect(hosts.map(({ id }) => id)).toEqual(hosts.map(({ id }) => id).toSorted());
  });
});
