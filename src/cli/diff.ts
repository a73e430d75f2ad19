/** `gazetteer diff`: what appeared, disappeared and changed between two moments. */
import type { Differences, Mark } from "../client/types.ts";
import { changeLine } from "./change-line.ts";
import {
  asking,
  CREDENTIALS_NOTE,
  queryOf,
  RESOURCES,
  type Resource,
  URL_FLAG,
  wantsJson,
} from "./client-command.ts";
import type { Command, Context } from "./command.ts";
import { STATUS, usageFailure } from "./failure.ts";
import { harmless } from "./table.ts";
import { momentGiven } from "./time-argument.ts";

export const diffCommand: Command = {
  name: "diff",
  operands: "A [B] [devices|links|hosts|topology] [NAME=VALUE...]",
  summary: "Show what changed between two moments.",
  flags: [URL_FLAG, { name: "output", short: "o", value: "FORMAT", help: "text or json. Default text" }],
  notes: `
A and B are revisions, times, how long ago by this machine's clock, or now; without B it is until now.

  gazetteer diff 5m
  gazetteer diff 2h 1h devices available=false
  gazetteer diff 2026-11-15T03:00:00Z now
  gazetteer diff 1200 1250 -o json

${CREDENTIALS_NOTE}`,
  async run(args, context) {
    const { moments, resource, parameters } = sorted(args.positionals);
    const [from, to] = moments.map((moment) => momentGiven(moment, Date.now()));
    if (from === undefined) throw usageFailure("wants a moment to compare with, such as 5m");
    const query = queryOf(parameters);
    const json = wantsJson(args);
    await asking(args, context, async (client) => {
      const differences = await client.diff(resource, from, to, query);
      await context.out(json ? `${harmless(JSON.stringify(differences))}\n` : told(differences, context));
    });
    return STATUS.ok;
  },
};

/** A word that is a resource is one, a word with `=` is a parameter, and the others are moments. */
function sorted(words: readonly string[]): { moments: string[]; resource: Resource; parameters: string[] } {
  const parameters = words.filter((word) => word.includes("="));
  const resources = RESOURCES.filter((name) => words.includes(name));
  const moments = words.filter((word) => !word.includes("=") && !RESOURCES.some((name) => name === word));
  const [resource = "topology", another] = resources;
  if (another !== undefined) throw usageFailure(`wants one of ${resources.join(", ")}`);
  if (moments.length > 2) throw usageFailure(`wants two moments, not ${moments.length}`);
  return { moments, resource, parameters };
}

function told({ from, to, changes }: Differences, context: Context): string {
  const colour = context.terminal && !context.env.NO_COLOR;
  const count = (event: string) => changes.filter((change) => change.event === event).length;
  const lines = [`from ${mark(from)} to ${mark(to)}`, ...changes.map((change) => changeLine(change, colour))];
  lines.push(
    changes.length === 0
      ? "nothing changed"
      : `${count("added")} appeared, ${count("removed")} disappeared, ${count("updated")} changed`,
  );
  return `${lines.join("\n")}\n`;
}

function mark({ revision, time }: Mark): string {
  return time > 0 ? `revision ${revision} (${new Date(time).toISOString()})` : `revision ${revision}`;
}
