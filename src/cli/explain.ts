/** `gazetteer explain`: what each source claims about one entity, and why each of its fields has its value. */
import type { Client } from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import type { Query } from "../client/types.ts";
import { canonicalHostId } from "../model/address.ts";
import type { ExplainedClaim, ExplainedField, Explanation } from "../model/explanation.ts";
import type { Kind } from "../model/ids.ts";
import {
  AT_FLAG,
  createClientCommand,
  OUTPUT_FLAG,
  wantsColour,
  wantsJson,
  withAt,
} from "./client-command.ts";
import { CommandFailure, EXIT_STATUS, usageFailure } from "./command.ts";
import { resolveHost } from "./operands.ts";
import { type Column, escapeControlCharacters, formatCell, renderJson, renderTable } from "./table.ts";

export const explainCommand = createClientCommand({
  name: "explain",
  operands: "ID",
  summary: "Show what each source claims of an entity, and why its fields have their values.",
  flags: [AT_FLAG, OUTPUT_FLAG],
  notes: `
ID is the id or name of a device, the id of a link, the id, name or IP address of a host, or DEVICE/PORT. Long values are cut; -o json has all of them.

  gazetteer explain of:0000000000000001
  gazetteer explain of:0000000000000001/1 --at 2h
  gazetteer explain 00:00:00:00:00:01/None -o json`,
  async read(client, args, context) {
    const [id, ...more] = args.positionals;
    if (id === undefined || id === "" || more.length > 0) throw usageFailure("wants one id");
    const query = withAt({}, args);
    const json = wantsJson(args);
    const explanation = await explainAny(client, id, query);
    await context.out(json ? renderJson(explanation) : renderExplanation(explanation, wantsColour(context)));
    return EXIT_STATUS.ok;
  },
});

/** The kinds of entity that an id can belong to, by its shape. The id of a device may have any shape. */
function kindsOf(id: string): Kind[] {
  const kinds: Kind[] = ["devices"];
  if (canonicalHostId(id) !== undefined) kinds.push("hosts");
  if (/.\/[^/]+-.+\/[^/]+$/.test(id)) kinds.push("links");
  if (/.\/[^/]+$/.test(id)) kinds.push("ports");
  return kinds;
}

/** Returns the explanation of the entity of the first kind that has the id. */
export async function explainAny(client: Client, id: string, query: Query): Promise<Explanation> {
  for (const kind of kindsOf(id)) {
    try {
      return await client.explain(kind, id, query);
    } catch (error) {
      if (!(error instanceof ClientError && error.status === 404)) throw error;
    }
  }
  const host = await resolveHost(client, id, query);
  if (host !== undefined) return client.explain("hosts", host, query);
  throw new CommandFailure(`404: there is no device, port, link or host ${JSON.stringify(id)}`);
}

const CLAIM_COLUMNS: readonly Column<ExplainedClaim>[] = [
  { title: "SOURCE", cell: ({ source }) => source },
  { title: "ROLE", cell: ({ role }) => role },
  { title: "STATUS", cell: ({ status }) => status, styles: { live: "green", stale: "yellow" } },
  { title: "STALE SINCE", cell: ({ staleSince }) => staleSince },
  { title: "ID", cell: ({ id }) => id },
];

interface FieldRow extends ExplainedField {
  readonly name: string;
  readonly others: readonly string[];
}

const FIELD_COLUMNS: readonly Column<FieldRow>[] = [
  { title: "FIELD", cell: ({ name }) => name },
  { title: "VALUE", cell: ({ value }) => value },
  { title: "SOURCE", cell: ({ source }) => source },
  { title: "WHY", cell: ({ why }) => why },
  { title: "OTHER CLAIMS", cell: ({ others }) => others },
];

function renderExplanation(explanation: Explanation, colour: boolean): string {
  const { kind, id, notShown, identity = [], claims, fields, drift } = explanation;
  const lines = [
    `${kind.slice(0, -1)} ${id}`,
    ...(notShown === undefined ? [] : [`not shown: ${notShown}`]),
    ...identity.map(({ rule, value, ids }) => `one device by ${rule} ${value}: ${ids.join(", ")}`),
    ...(drift ? [`drift: ${drift.state} since ${drift.since}`] : []),
  ];
  const rows = Object.entries(fields).map(
    ([name, field]): FieldRow => ({ ...field, name, others: otherClaims(claims, name, field.source) }),
  );
  return [
    lines.map((line) => `${escapeControlCharacters(line)}\n`).join(""),
    renderTable(claims, CLAIM_COLUMNS, { colour }),
    ...(rows.length > 0 ? [renderTable(rows, FIELD_COLUMNS, { colour })] : []),
  ].join("\n");
}

/** The claims about the field from the sources that its value does not come from. */
function otherClaims(claims: readonly ExplainedClaim[], name: string, winner: string | null): string[] {
  const [, key] = name.split(/^annotations\./);
  return claims.flatMap(({ source, claim }) => {
    const members = new Map(Object.entries(key === undefined ? claim : Object(claim.annotations ?? {})));
    const value = members.get(key ?? name);
    return source === winner || value === undefined ? [] : [`${source}: ${formatCell(value)}`];
  });
}
