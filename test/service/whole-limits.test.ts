/** `serve --readers 3`: limits hold for the whole service, and one process alone can use a whole limit. */
import { describe, expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { type Connection, connectOften, processIdsOf } from "./connection.ts";
import { startThreeProcesses, waitForReaders } from "./start-with-readers.ts";

const DEVICES = "/controller/v1/devices";
const LIMIT = 5;

const countOf = (statuses: readonly number[], status: number) =>
  statuses.filter((other) => other === status).length;

/** Opens a stream on each connection, one after the other. Returns the statuses. */
async function openStreams(connections: readonly Connection[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const connection of connections) statuses.push(await connection.openStream(DEVICES));
  return statuses;
}

/** Opens a stream on each connection, as soon as streams that were closed before are gone. */
async function openAllStreams(connections: readonly Connection[]): Promise<void> {
  for (const connection of connections)
    await until(async () => (await connection.openStream(DEVICES)) === 200, { what: "room for a stream" });
}

const closeAll = (connections: readonly Connection[]) => {
  for (const connection of connections) connection.close();
};

describe.each([
  { key: "streamsPerUser", variable: "GAZETTEER_LIMITS_STREAMS_PER_USER", refusal: 429 },
  { key: "connections", variable: "GAZETTEER_LIMITS_CONNECTIONS", refusal: 503 },
])("limits.$key", ({ variable, refusal }) => {
  test("holds for all processes together, for one alone, and after the end of a reader", async () => {
    await using service = await startThreeProcesses({ env: { [variable]: String(LIMIT) } });
    const pids = processIdsOf(service);

    const spread = (await connectOften(service, pids, 3)).flat();
    const statuses = await openStreams(spread);
    expect({ open: countOf(statuses, 200), refused: countOf(statuses, refusal) }).toEqual({
      open: LIMIT,
      refused: spread.length - LIMIT,
    });
    closeAll(spread);

    for (const ofProcess of await connectOften(service, pids, LIMIT + 1)) {
      await openAllStreams(ofProcess.slice(0, LIMIT));
      expect(await openStreams(ofProcess.slice(LIMIT))).toEqual([refusal]);
      closeAll(ofProcess);
    }

    const [writer = [], reader = []] = await connectOften(service, pids.slice(0, 2), LIMIT);
    await openAllStreams(reader);
    expect(await openStreams(writer.slice(0, 1))).toEqual([refusal]);
    process.kill(pids[1] ?? 0, "SIGKILL");
    await openAllStreams(writer);
    await waitForReaders(service, 1);
    const fresh = (await connectOften(service, processIdsOf(service), 1)).flat();
    expect(await openStreams(fresh)).toEqual([refusal, refusal, refusal]);
  }, 120_000);
});

test("limits.requestsPerSecond holds for all processes together, and for one alone", async () => {
  const perSecond = 20;
  const variable = "GAZETTEER_LIMITS_REQUESTS_PER_SECOND";
  await using service = await startThreeProcesses({ env: { [variable]: String(perSecond) } });
  const pids = processIdsOf(service);
  const connections = (await connectOften(service, pids, 1)).flat();
  // The first login of each process takes its time.
  for (const connection of connections) await connection.get(DEVICES);

  const startedAt = performance.now();
  const statuses = await Promise.all(
    connections.map(async (connection) => {
      const own: number[] = [];
      for (let n = 0; n < 2 * perSecond; n++) own.push((await connection.get(DEVICES)).status);
      return own;
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const allowed = countOf(statuses.flat(), 200);
  expect(allowed).toBeGreaterThan(0);
  expect(allowed).toBeLessThanOrEqual(perSecond * (1 + seconds));
  expect(countOf(statuses.flat(), 429)).toBe(statuses.flat().length - allowed);

  for (const connection of connections) {
    const remaining = async (path: string) => {
      const { headers } = await connection.get(path);
      return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
    };
    await until(async () => (await remaining(DEVICES)) === perSecond - 1, {
      what: "a full bucket",
      everyMs: 300,
    });
    for (let n = 1; n < perSecond; n++) expect((await connection.get(DEVICES)).status).toBe(200);
  }
  // A forwarded request counts once.
  const [, reader] = connections;
  const left = async () => {
    const { headers } = (await reader?.get("/openapi.json")) ?? { headers: new Map() };
    return /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  };
  await until(async () => (await left()) === String(perSecond - 1), {
    what: "a full bucket after a forwarded request",
    everyMs: 300,
  });
}, 120_000);
