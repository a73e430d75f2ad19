/** `gazetteer diff`: the entities that were added, removed or changed between two points in time. */
import type { DiffResult, RevisionTime } from "../client/types.ts";
import { renderChangeLine } from "./change-line.ts";
import {
  CREDENTIALS_NOTE,
  parseQuery,
  RESOURCES,
  type Resource,
  URL_FLAG,
  wantsColour,
  wantsJson,
  withClient,
} from "./client-command.ts";
import type { Command } from "./command.ts";
import { EXIT_STATUS, usageFailure } from "./failure.ts";
import { escapeControlCharacters } from "./table.ts";
import { parseTimeArgument } from "./time-argument.ts";

export const diffCommand: Command = {
  name: "diff",
  operands: "A [B] [devices|links|hosts|topology] [NAME=VALUE...]",
  summary: "Show what changed between two points in time.",
  flags: [URL_FLAG, { name: "output", short: "o", value: "FORMAT", help: "text or json. Default text" }],
  notes: `
A and B are revisions, times, times ago by the clock of this machine (90s, 5m, 2h, 3d, 1w), or now. Default for B: now.

  gazetteer diff 5m
  gazetteer diff 2h 1h devices available=false
  gazetteer diff 2026-11-15T03:00:00Z now
  gazetteer diff 1200 1250 -o json

${CREDENTIALS_NOTE}`,
  async run(args, context) {
    const { times, resource, parameters } = classifyOperands(args.positionals);
    const [from, to] = times.map((time) => parseTimeArgument(time, Date.now()));
    if (from === undefined) throw usageFailure("wants a point in time to compare with, such as 5m");
    const query = parseQuery(parameters);
    const json = wantsJson(args);
    await withClient(args, context, async (client) => {
      const differences = await client.diff(resource, from, to, query);
      await context.out(
        json
          ? `${escapeControlCharacters(JSON.stringify(differences))}\n`
          : renderDifferences(differences, wantsColour(context)),
      );
    });
    return EXIT_STATUS.ok;
  },
};

interface Operands {
  readonly times: readonly string[];
  readonly resource: Resource;
  readonly parameters: readonly string[];
}

/** An operand with `=` is a query parameter, the name of a resource is the resource, any other is a time. */
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

function renderDifferences({ from, to, changes }: DiffResult, colour: boolean): string {
  const count = (event: string) => changes.filter((change) => change.event === event).length;
  const summary =
    changes.length === 0
      ? "nothing changed"
      : `${count("added")} added, ${count("removed")} removed, ${count("updated")} changed`;
  const lines = [
    `from ${formatRevision(from)} to ${formatRevision(to)}`,
    ...changes.map((change) => renderChangeLine(change, colour)),
    summary,
  ];
  return `${lines.join("\n")}\n`;
}

function formatRevision({ revision, time }: RevisionTime): string {
  return time > 0 ? `revision ${revision} (${new Date(time).toISOString()})` : `revision ${revision}`;
}
