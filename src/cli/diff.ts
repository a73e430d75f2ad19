/** `gazetteer diff`: the entities that were added, removed or changed between two points in time. */
import type { Client } from "../client/client.ts";
import type { DiffResult } from "../client/types.ts";
import { pointsOfChange, renderChangeLine } from "./change-line.ts";
import { createClientCommand, OUTPUT_FLAG, wantsColour, wantsJson } from "./client-command.ts";
import { EXIT_STATUS, usageFailure } from "./command.ts";
import { NetworkNames } from "./network-names.ts";
import {
  formatRevision,
  type ListedResource,
  parseQuery,
  parseTimeArgument,
  RESOURCES,
  withinHistory,
} from "./operands.ts";
import { renderJson } from "./table.ts";

export const diffCommand = createClientCommand({
  name: "diff",
  operands: "A [B] [devices|links|hosts|topology] [NAME=VALUE...]",
  summary: "Show what changed between two points in time.",
  flags: [OUTPUT_FLAG],
  notes: `
A and B are revisions, times, times ago by the clock of this machine (90s, 5m, 2h, 3d, 1w), or now. Default for B: now.
A time ago before the history begins is taken as its beginning, with a note on standard error: after the first load of all
sources, or the oldest kept revision.

  gazetteer diff 5m
  gazetteer diff 2h 1h devices available=false
  gazetteer diff 2026-11-15T03:00:00Z now
  gazetteer diff 1200 1250 -o json
  gazetteer diff 1d drift=any`,
  async read(client, args, context) {
    const { times, resource, parameters } = classifyOperands(args.positionals);
    const nowMs = Date.now();
    for (const text of times) parseTimeArgument(text, nowMs); // throws before anything is read
    const [from, to] = times;
    if (from === undefined) throw usageFailure("wants a point in time to compare with, such as 5m");
    const query = parseQuery(parameters);
    const json = wantsJson(args);
    const resolve = (text: string) =>
      withinHistory(client, text, nowMs, (note) => context.err(`gazetteer diff: ${note}\n`));
    const start = await resolve(from);
    const end = to === undefined ? undefined : await resolve(to);
    const differences = await client.diff(resource, start, end, query);
    await context.out(
      json
        ? renderJson(differences)
        : renderDifferences(differences, wantsColour(context), await loadNames(client, differences)),
    );
    return EXIT_STATUS.ok;
  },
});

interface Operands {
  readonly times: readonly string[];
  readonly resource: ListedResource;
  readonly parameters: readonly string[];
}

/** An operand with `=` is a query parameter, the name of a resource is the resource, and any other operand is a time. */
function classifyOperands(operands: readonly string[]): Operands {
  const isParameter = (operand: string) => operand.includes("=");
  const isResource = (operand: string) => RESOURCES.some((name) => name === operand);
  const parameters = operands.filter(isParameter);
  const resources = RESOURCES.filter((name) => operands.includes(name));
  const times = operands.filter((operand) => !isParameter(operand) && !isResource(operand));
  const [resource = "topology", second] = resources;
  if (second !== undefined) throw usageFailure(`wants one of ${resources.join(", ")}`);
  if (times.length > 2) throw usageFailure(`wants two points in time, not ${times.length}`);
  return { times, resource, parameters };
}

/** Loads the names as of the end of the interval. An entity that was removed before the end has its last name. */
async function loadNames(client: Client, { to, changes }: DiffResult): Promise<NetworkNames> {
  const names = new NetworkNames(client, { at: to.revision });
  for (const { resource, value } of changes) names.add(resource, value);
  await names.load(changes.flatMap(pointsOfChange));
  return names;
}

function renderDifferences({ from, to, changes }: DiffResult, colour: boolean, names: NetworkNames): string {
  const count = (event: string) => changes.filter((change) => change.event === event).length;
  const summary =
    changes.length === 0
      ? "nothing changed"
      : `${count("added")} added, ${count("removed")} removed, ${count("updated")} changed`;
  const lines = [
    `from ${formatRevision(from)} to ${formatRevision(to)}`,
    ...changes.map((change) => renderChangeLine(change, colour, names)),
    summary,
  ];
  return `${lines.join("\n")}\n`;
}
