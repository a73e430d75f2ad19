/**
 * `gazetteer get --watch`: prints the read, then a row for every change. Lists and single entities subscribe to the change
 * stream of their collection; the counts of the topology are read again after a change. A path below an entity, such as
 * its ports, has no stream of its own and cannot be watched.
 */
import type { Client } from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import type { WatchEvent } from "../client/types.ts";
import { systemClock } from "../lib/clock.ts";
import { createConnectionReporter, runUntilStopped } from "./client-command.ts";
import type { Row, TableColumn } from "./columns.ts";
import { CommandFailure, type Context, usageFailure } from "./command.ts";
import { createRowTable, type OutputOptions, renderIds, yamlOf } from "./get-output.ts";
import type { ReadTarget } from "./operands.ts";
import { renderJson } from "./table.ts";

export const WATCH_OUTPUTS: readonly string[] = ["table", "wide", "name", "json", "yaml"];

/** The pause after a failed read of the counts. */
const RETRY_MS = 1000;

/** The column of the event. It is empty for the entities of a snapshot. */
const EVENT_COLUMN: TableColumn = {
  title: "EVENT",
  cell: (row) => row.event,
  styles: { added: "green", updated: "yellow", removed: "red" },
};

/** Renders entities, each with its event, as text. */
type RenderRows = (rows: readonly Row[]) => Promise<string>;

export async function watchRead(
  client: Client,
  target: ReadTarget,
  options: OutputOptions,
  context: Context,
): Promise<void> {
  const isCounts = target.path === "topology";
  if (!isCounts && target.id === undefined && target.path !== target.resource) {
    throw usageFailure(`--watch follows a list, one of it, or the topology, not ${target.path}`);
  }
  await runUntilStopped(context, (signal) => {
    const render = createRowRenderer(client, target, options, signal);
    return isCounts
      ? watchCounts(client, target, render, context, signal)
      : watchEntities(client, target, render, context, signal);
  });
}

async function watchEntities(
  client: Client,
  target: ReadTarget,
  render: RenderRows,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  const { resource, query, id } = target;
  if (resource === "topology") return;
  const onState = createConnectionReporter(context, "get");
  const filtered = id === undefined ? query : { ...query, id };
  let snapshot: Row[] = [];
  let wasSynced = false;
  for await (const event of client.watch(resource, filtered, { signal, onState })) {
    if (event.type === "snapshot") snapshot.push({ ...event.value });
    else if (event.type === "synced") {
      if (id !== undefined && snapshot.length === 0 && !wasSynced)
        throw new CommandFailure(`404: there is no ${resource.replace(/s$/, "")} ${JSON.stringify(id)}`);
      await context.out(await render(snapshot));
      wasSynced = true;
      snapshot = [];
    } else if (event.type !== "reset") {
      await context.out(await render([changedRow(event)]));
    }
  }
}

const changedRow = (event: Extract<WatchEvent, { last: boolean }>): Row => ({
  ...event.value,
  event: event.type,
});

/** Prints the counts whenever they differ from those printed last. */
async function watchCounts(
  client: Client,
  { query }: ReadTarget,
  render: RenderRows,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  let printed = "";
  const print = async () => {
    const counts = await client.topology(query, { signal });
    const text = JSON.stringify(counts);
    if (text !== printed) await context.out(await render([{ ...counts }]));
    printed = text;
  };
  const onState = createConnectionReporter(context, "get");
  const { revision: since } = await client.ready({ signal });
  await print();
  for await (const event of client.watch("topology", {}, { signal, since, onState })) {
    if (event.type !== "synced" && !("last" in event && event.last)) continue;
    await retryTransient(print, signal);
  }
}

/** Runs a read until it succeeds. The stream reports a lost service meanwhile, so nothing is printed here. */
async function retryTransient(read: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ClientError) || !error.transient) throw error;
      await systemClock.sleep(RETRY_MS, signal);
    }
  }
}

function createRowRenderer(
  client: Client,
  target: ReadTarget,
  options: OutputOptions,
  signal: AbortSignal,
): RenderRows {
  const { output } = options;
  const { resource, query } = target;
  if (output === "name") return async (rows) => renderIds(rows);
  if (output === "json") return async (rows) => rows.map(renderJson).join("");
  if (output === "yaml")
    return async (rows) => (await Promise.all(rows.map(yamlOf))).map((text) => `---\n${text}`).join("");
  const first = resource === "topology" ? [] : [EVENT_COLUMN];
  return createRowTable(client, resource, query, options, { first, signal });
}
