/**
 * `gazetteer watch`: changes as they happen, one line each. It begins with now, so it costs nothing however large the
 * network is; a connection that is lost is taken up again where it was. Standard output has changes and nothing else.
 */
import type { ConnectionState, WatchEvent } from "../client/types.ts";
import { changeLine } from "./change-line.ts";
import { asking, CREDENTIALS_NOTE, queryOf, resourceNamed, URL_FLAG, wantsJson } from "./client-command.ts";
import type { Command, Context } from "./command.ts";
import { STATUS, usageFailure } from "./failure.ts";
import { catchStopSignals } from "./stop-signals.ts";
import { harmless, painter } from "./table.ts";

export const watchCommand: Command = {
  name: "watch",
  operands: "[devices|links|hosts|topology] [NAME=VALUE...]",
  summary: "Show changes as they happen.",
  flags: [
    URL_FLAG,
    { name: "output", short: "o", value: "FORMAT", help: "text, or json: one event a line. Default text" },
  ],
  notes: `
Without a name it shows everything. NAME=VALUE are filters: gazetteer watch devices type=SWITCH,ROUTER
since=REVISION begins with the changes after that revision instead of with now.
${CREDENTIALS_NOTE}`,
  async run(args, context) {
    const named = args.positionals[0]?.includes("=") === false;
    const resource = named ? resourceNamed(args.positionals[0]) : "topology";
    const { since, ...query } = queryOf(args.positionals.slice(named ? 1 : 0));
    const from = since === undefined ? undefined : revisionGiven(String(since));
    const show = wantsJson(args) ? jsonOf : textOf(context.terminal && !context.env.NO_COLOR);
    const stop = catchStopSignals(() => context.exit(STATUS.ok));
    try {
      await asking(args, context, async (client) => {
        const { signal } = stop;
        const start = from ?? (await client.ready({ signal })).revision;
        const onState = connectionNotes(context);
        for await (const event of client.watch(resource, query, { signal, since: start, onState })) {
          const text = show(event);
          if (text !== "") await context.out(text);
          if (event.type === "reset") await context.err(`gazetteer watch: ${MISSED}\n`);
        }
      });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      stop.release();
    }
    return STATUS.ok;
  },
};

const MISSED = "the service no longer knows what changed meanwhile; what follows happens from now on";

function revisionGiven(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageFailure(`since=${text}: must be a revision`);
}

/** JSON escapes what could move a cursor as JSON, so that it reads back the same. */
const jsonOf = (event: WatchEvent): string => `${harmless(JSON.stringify(event))}\n`;

function textOf(colour: boolean): (event: WatchEvent) => string {
  const paint = painter(colour);
  return (event) => {
    // After a reset the whole network is told anew; only programs have a use for that.
    if (event.type === "reset" || event.type === "snapshot" || event.type === "synced") return "";
    const time = paint(new Date(event.time).toISOString(), "dim");
    return `${time}  ${changeLine({ ...event, event: event.type }, colour)}\n`;
  };
}

/** Says when the connection is lost and when it is there again; that it was made at first goes without saying. */
function connectionNotes(context: Context): (state: ConnectionState) => void {
  const note = (text: string) => void context.err(`gazetteer watch: ${text}\n`);
  let lost = false;
  return (state) => {
    if (state.state === "reconnecting" && state.afterMs > 0) {
      lost = true;
      note(`${harmless(state.reason)}; trying again in ${(state.afterMs / 1000).toFixed(1)} s`);
    } else if (state.state === "connected" && lost) {
      lost = false;
      note("connected again");
    }
  };
}
