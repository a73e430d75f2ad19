/**
 * The `controller` source against ONOS 2.7's own REST application: what the alias `onos` then serves must equal what ONOS
 * serves. Where ONOS cannot run, a server with its recorded lists takes its place for the comparison.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SHARED_MARK } from "../../../scripts/test/shared.ts";
import { NETWORK } from "../../onos/network.ts";
import { type ComparedResponse, readAll } from "../../onos/requests.ts";
import { missingForOnos } from "../../peers/onos/onos-install.ts";
import { freePort, ONOS_CREDENTIALS, startOnos } from "../../peers/onos/onos-peer.ts";
import { printSkip } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { statusOf } from "./gazetteers.ts";

const RECORDING = join(import.meta.dir, "../../onos/fixtures/recording.json");
const START_TIMEOUT_MS = 360_000;
const recorded: Record<string, ComparedResponse> = await Bun.file(RECORDING).json();
const successes = Object.entries(recorded).filter(([, { status }]) => status === 200);

const missing = missingForOnos();
if (missing) printSkip(`ONOS itself does not run, its recorded lists are used: ${missing}`);

const startReader = (url: string): Promise<Service> => {
  const source = { type: "controller", name: "onos", url, credentials: ONOS_CREDENTIALS, intervalSeconds: 1 };
  return startService({
    args: ["--data", ":memory:", "--alias", "onos"],
    env: { GAZETTEER_SOURCES: JSON.stringify([source]) },
  });
};

const waitFor = (service: Service, status: string) =>
  until(
    async () => {
      const source = await statusOf(service, "onos");
      return source?.status === status ? source : undefined;
    },
    { what: `the source to be ${status}`, deadlineMs: 60_000 },
  );

/** All requests that ONOS answers with 200 have the same answer here. */
async function expectSameAnswers(
  service: Service,
  expected: readonly (readonly [string, ComparedResponse])[],
) {
  const ours = await readAll((path, init) => service.fetch(`/onos/v1/${path}`, init));
  for (const [name, response] of expected) expect({ name, ...ours[name] }).toEqual({ name, ...response });
}

test("recorded lists: the alias answers as the ONOS that they are from", async () => {
  const lists = { devices: "devices", "devices/ports": "ports", links: "links", hosts: "hosts" };
  using onos = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const path = new URL(request.url).pathname.replace("/onos/v1/", "");
      const response = recorded[`GET ${path}`];
      return path in lists || path === "topology"
        ? Response.json(response?.body)
        : new Response("", { status: 404 });
    },
  });
  await using service = await startReader(`http://127.0.0.1:${onos.port}/onos/v1`);
  await waitFor(service, "synced");
  await expectSameAnswers(service, successes);
}, 180_000);

describe(`ONOS itself ${SHARED_MARK}`, () => {
  test.skipIf(missing !== undefined)(
    "first load; stopped: stale, with the data; started with other files on the same port: updated",
    async () => {
      const port = freePort();
      let onos = await startOnos({ port });
      await using service = await startReader(onos.url);
      await waitFor(service, "synced");
      expect(successes.length).toBeGreaterThan(100);
      await expectSameAnswers(service, successes);

      await onos[Symbol.asyncDispose]();
      const { error } = await waitFor(service, "stale");
      expect(error).toMatch(/^127\.0\.0\.1:\d+\/\S+: .+ \(ECONN(REFUSED|RESET)\)$/);
      const { devices } = JSON.parse(await (await service.fetch("/onos/v1/devices")).text());
      expect(devices).toHaveLength(NETWORK.devices.length);

      const [, ...hosts] = NETWORK.hosts;
      const network = {
        ...NETWORK,
        devices: NETWORK.devices.map((device, i) => (i === 0 ? { ...device, available: false } : device)),
        links: NETWORK.links.slice(2),
        hosts,
      };
      onos = await startOnos({ port, network });
      try {
        await waitFor(service, "synced");
        const { links } = JSON.parse(await (await service.fetch("/onos/v1/links")).text());
        expect(links).toHaveLength(network.links.length);
        const theirs = Object.entries(await readAll(onos.fetchPath));
        await expectSameAnswers(
          service,
          theirs.filter(([, { status }]) => status === 200),
        );
      } finally {
        await onos[Symbol.asyncDispose]();
      }
    },
    START_TIMEOUT_MS,
  );
});
