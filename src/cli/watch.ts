/**
 * `gazetteer watch`: prints changes as they are committed, one on each line. It starts at the current revision, so it does
 * not load the network first. After a lost connection it resumes at the last revision.
 */
import type { Client } from "../client/client.ts";
import type { RevisionOrTime, WatchEvent } from "../client/types.ts";
import { pointsOfChange, renderChangeLine } from "./change-line.ts";
import {
  createClientCommand,
  createConnectionReporter,
  OUTPUT_FLAG,
  runUntilStopped,
  wantsColour,
  wantsJson,
} from "./client-command.ts";
import { EXIT_STATUS } from "./command.ts";
import { NetworkNames } from "./network-names.ts";
import { parseQuery, parseResource, parseTimeArgument, withinHistory } from "./operands.ts";
import { createStyler, renderJson } from "./table.ts";

const CHANGES_MISSED =
  "the service no longer has the changes since the connection was lost; only new changes follow";

export const watchCommand = createClientCommand({
  name: "watch",
  operands: "[devices|links|hosts|topology] [NAME=VALUE...]",
  summary: "Show changes as they happen.",
  flags: [{ ...OUTPUT_FLAG, help: "text, or json: one event for each line. Default text" }],
  notes: `
Without a resource it shows all changes. NAME=VALUE are filters: gazetteer watch devices type=SWITCH,ROUTER
since=TIME starts with the changes after a revision, a time or a time ago (since=5m) instead of the current revision. A time
ago before the history begins is taken as its beginning.`,
  async read(client, args, context) {
    const hasResource = args.positionals[0]?.includes("=") === false;
    const resource = hasResource ? parseResource(args.positionals[0]) : "topology";
    const { since, ...query } = parseQuery(args.positionals.slice(hasResource ? 1 : 0));
    const nowMs = Date.now();
    if (since !== undefined) parseTimeArgument(String(since), nowMs); // throws before anything is read
    const note = (text: string) => context.err(`gazetteer watch: ${text}\n`);
    await runUntilStopped(context, async (signal) => {
      const given = since === undefined ? undefined : await withinHistory(client, String(since), nowMs, note);
      const start =
        given === undefined
          ? (await client.ready({ signal })).revision
          : await revisionAt(client, given, signal);
      const render = wantsJson(args) ? renderJson : createTextRenderer(client, wantsColour(context), signal);
      const onState = createConnectionReporter(context, "watch");
      for await (const event of client.watch(resource, query, { signal, since: start, onState })) {
        const text = await render(event);
        if (text !== "") await context.out(text);
        if (event.type === "reset") await note(CHANGES_MISSED);
      }
    });
    return EXIT_STATUS.ok;
  },
});

/** Finds the revision of a time with a diff between the time and itself, which is empty and names the revision. */
const revisionAt = async (client: Client, moment: RevisionOrTime, signal: AbortSignal): Promise<number> =>
  typeof moment === "number"
    ? moment
    : (await client.diff("devices", moment, moment, {}, { signal })).from.revision;

/** The renderer returns an empty text for events that are not changes. */
function createTextRenderer(
  client: Client,
  colour: boolean,
  signal: AbortSignal,
): (event: WatchEvent) => Promise<string> {
  const style = createStyler(colour);
  const names = new NetworkNames(client, {});
  return async (event) => {
    // After a reset, the service sends the whole network again, which is not a change.
    if (event.type === "reset" || event.type === "snapshot" || event.type === "synced") return "";
    const time = style(new Date(event.time).toISOString(), "dim");
    const change = { ...event, event: event.type };
    names.add(event.resource, event.value);
    await names.loadForLine(pointsOfChange(change), signal);
    return `${time}  ${renderChangeLine(change, colour, names)}\n`;
  };
}
