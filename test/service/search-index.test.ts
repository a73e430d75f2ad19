/**
 * A page is open, and any process may get its searches: every process of the service builds its own index, once a page was
 * opened through any of them. The log says so at the level debug.
 */
import { expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { connectToEachProcess, processIdsOf } from "./connection.ts";
import { startThreeProcesses } from "./start-with-readers.ts";

test("a page that is opened through a reader makes all processes index for the search, and none before", async () => {
  const service = await startThreeProcesses({
    args: ["--data", ":memory:", "--demo", "devices=30,hosts=120", "--set", "logLevel=debug"],
  });
  const ids = processIdsOf(service);
  const connections = await connectToEachProcess(service, ids);
  /** The writer has no number in its lines. */
  const indexing = () =>
    [...service.stderr().matchAll(/ search index extended pages=[1-9].*?(?: reader=(\d))?$/gm)].map(
      ([, reader = "writer"]) => reader,
    );
  for (const connection of connections) await connection.get("/controller/v1/devices");
  expect(indexing()).toEqual([]);
  const reader = connections.at(-1);
  expect((await reader?.get("/map/settings.json"))?.status).toBe(200);
  await until(() => new Set(indexing()).size === 3, { what: "the index of each process" });
  expect(new Set(indexing())).toEqual(new Set(["writer", "2", "3"]));
  for (const connection of connections) {
    const { status, body } = await connection.get("/controller/v1/topology/search?q=of");
    expect([status, JSON.parse(body.toString()).hits.length > 0]).toEqual([200, true]);
  }
  for (const connection of connections) connection.close();
  expect(await service.stop()).toBe(0);
});
