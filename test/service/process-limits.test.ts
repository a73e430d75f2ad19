/** `serve --readers 3`: limits hold in each process, and a relayed request counts once, where the client sent it. */
import { expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { type Connection, connectOften, processIdsOf } from "./connection.ts";
import { startThreeProcesses } from "./start-with-readers.ts";

const DEVICES = "/controller/v1/devices";
const STREAMS = 2;
const PER_SECOND = 20;

/** The requests that the user has left in the process of the connection, after this one. */
async function requestsLeft(connection: Connection, path: string): Promise<number> {
  const { headers } = await connection.get(path);
  return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
}

/** Makes requests until all but this one are left. */
const waitForFullBucket = (connection: Connection, path: string) =>
  until(async () => (await requestsLeft(connection, path)) === PER_SECOND - 1, {
    what: "a full bucket",
    everyMs: 300,
  });

test("a limit of streams or requests holds in each process", async () => {
  await using service = await startThreeProcesses({
    env: {
      GAZETTEER_LIMITS_STREAMS_PER_USER: String(STREAMS),
      GAZETTEER_LIMITS_REQUESTS_PER_SECOND: String(PER_SECOND),
    },
  });
  const processes = await connectOften(service, processIdsOf(service), STREAMS + 1);
  // All processes have their streams at the same time.
  for (const connections of processes) {
    const statuses: number[] = [];
    for (const connection of connections) statuses.push(await connection.openStream(DEVICES));
    expect(statuses).toEqual([...Array(STREAMS).fill(200), 429]);
  }
  for (const [, , connection] of processes) {
    if (!connection) throw new Error("a connection is missing");
    await waitForFullBucket(connection, DEVICES);
    // `/openapi.json` is relayed by a reader: it counts in the reader only.
    await waitForFullBucket(connection, "/openapi.json");
    await until(async () => (await connection.get(DEVICES)).status === 429, { what: "429", everyMs: 0 });
  }
}, 60_000);

test("limits.connections holds in each process", async () => {
  await using service = await startThreeProcesses({ env: { GAZETTEER_LIMITS_CONNECTIONS: "2" } });
  for (const connections of await connectOften(service, processIdsOf(service), 3)) {
    const statuses: number[] = [];
    for (const connection of connections) statuses.push(await connection.openStream(DEVICES));
    expect(statuses).toEqual([200, 200, 503]);
  }
}, 60_000);
