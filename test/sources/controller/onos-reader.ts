/** A service that reads ONOS, or a server that answers like it, and serves the alias `onos`. */
import { expect } from "bun:test";
import { join } from "node:path";
import { ONOS_CREDENTIALS } from "../../onos/network.ts";
import { type ComparedResponse, readAll } from "../../onos/requests.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { statusOf } from "./gazetteers.ts";

const RECORDING = join(import.meta.dir, "../../onos/fixtures/recording.json");
export const recorded: Record<string, ComparedResponse> = await Bun.file(RECORDING).json();
export const successes = Object.entries(recorded).filter(([, { status }]) => status === 200);

export const startReader = (url: string): Promise<Service> => {
  const source = { type: "controller", name: "onos", url, credentials: ONOS_CREDENTIALS, intervalSeconds: 1 };
  return startService({
    args: ["--data", ":memory:", "--alias", "onos"],
    env: { GAZETTEER_SOURCES: JSON.stringify([source]) },
  });
};

export const waitForStatus = (service: Service, status: string) =>
  until(
    async () => {
      const source = await statusOf(service, "onos");
      return source?.status === status ? source : undefined;
    },
    { what: `the source to be ${status}`, deadlineMs: 60_000 },
  );

/** All requests that ONOS answers with 200 have the same answer here. */
export async function expectSameAnswers(
  service: Service,
  expected: readonly (readonly [string, ComparedResponse])[],
) {
  const ours = await readAll((path, init) => service.fetch(`/onos/v1/${path}`, init));
  for (const [name, response] of expected) expect({ name, ...ours[name] }).toEqual({ name, ...response });
}
