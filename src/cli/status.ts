/**
 * `gazetteer status`: the state of a service on one screen. It shows the version and revision, the processes or nodes, the
 * storage, and each source with its state, the reason of a failure, and the number of its claims. The data come from
 * `/readyz` and `/cluster`, with credentials: without them, `/readyz` has fewer fields and `/cluster` refuses.
 */
import type { Readiness } from "../model/readiness.ts";
import { isFailing, type SourceStatus } from "../model/source-status.ts";
import { createClientCommand, OUTPUT_FLAG, wantsColour, wantsJson } from "./client-command.ts";
import { ageText, bytesText, countText, renderClusterStatus, timeText } from "./cluster-text.ts";
import { EXIT_STATUS, usageFailure } from "./command.ts";
import {
  type Column,
  createStyler,
  escapeControlCharacters,
  renderJson,
  renderTable,
  type TextStyle,
} from "./table.ts";

export const statusCommand = createClientCommand({
  name: "status",
  operands: "",
  summary: "Show the state of a service: its sources, processes or nodes, and storage.",
  flags: [OUTPUT_FLAG],
  notes: `
STATE is synced, starting, stale, standby (another node runs the source), stopped, or failed with the REASON. FOR is how long
it is so, REPORTED how long ago the source last reported. The counts are what it claims of what is shown.

  gazetteer status
  gazetteer status --server lab -o json`,
  async read(client, args, context) {
    if (args.positionals.length > 0) throw usageFailure("has no operands");
    const json = wantsJson(args);
    const colour = wantsColour(context);
    // `/cluster` is read first, because it refuses invalid credentials. `/readyz` only leaves out fields.
    const cluster = await client.cluster();
    const readiness = await client.ready();
    const isClustered = readiness.cluster !== undefined;
    if (json) await context.out(renderJson({ ...readiness, ...(isClustered && { overview: cluster }) }));
    else {
      const text = renderStatus(readiness, { colour, now: Date.now() });
      const nodes = isClustered ? `\n${renderClusterStatus(cluster, { colour, now: Date.now() })}` : "";
      await context.out(`${text}${nodes}`);
    }
    return EXIT_STATUS.ok;
  },
});

const STATUS_STYLES: Readonly<Record<Readiness["status"], TextStyle>> = {
  ready: "green",
  degraded: "yellow",
  starting: "yellow",
  stale: "red",
  stopping: "red",
};

interface StatusOptions {
  readonly colour: boolean;
  /** The current time in epoch milliseconds. */
  readonly now: number;
}

export function renderStatus(readiness: Readiness, { colour, now }: StatusOptions): string {
  const { status, version = "", revision = 0, sources = [], readers, storage, log } = readiness;
  const lines = [
    `gazetteer ${version}: ${createStyler(colour)(status, STATUS_STYLES[status])}, revision ${revision}`,
  ];
  if (readers) lines.push(`processes: ${readers.alive} of ${readers.configured} serve requests`);
  if (storage) {
    const { bytes, snapshots, oldest, oldestTime } = storage;
    // Revision 0, the empty network, has no time.
    const since = oldest === 0 ? "" : ` (${timeText(oldestTime)})`;
    lines.push(
      `storage: ${bytesText(bytes)}, ${countText(snapshots, "snapshot")}, history from revision ${oldest}${since}`,
    );
  }
  if (log)
    lines.push(
      `changes cannot be stored for ${ageText(log.since, now)}: ${escapeControlCharacters(log.error)}`,
    );
  const text = lines.map((line) => `${line}\n`).join("");
  return sources.length === 0
    ? `${text}no sources\n`
    : `${text}\n${renderTable(sources, sourceColumns(now, sources), { colour })}`;
}

function sourceColumns(now: number, sources: readonly SourceStatus[]): Column<SourceStatus>[] {
  const isClustered = sources.some(({ node }) => node !== undefined);
  return [
    { title: "SOURCE", cell: ({ name }) => name },
    { title: "KIND", cell: ({ kind, role }) => (role === undefined ? kind : `${kind} (${role})`) },
    {
      title: "STATE",
      cell: (source) => (isFailing(source) ? "failed" : source.status),
      styles: { failed: "red", stale: "red", synced: "green", starting: "yellow" },
    },
    { title: "FOR", cell: ({ since, failedSince }) => ageText(failedSince ?? since, now) },
    {
      title: "REPORTED",
      cell: ({ lastSyncedAt: at }) => (at === undefined ? undefined : `${ageText(at, now)} ago`),
    },
    { title: "DEVICES", cell: ({ entities }) => entities?.devices },
    { title: "PORTS", cell: ({ entities }) => entities?.ports },
    { title: "LINKS", cell: ({ entities }) => entities?.links },
    { title: "HOSTS", cell: ({ entities }) => entities?.hosts },
    ...(isClustered ? [{ title: "RUNS ON", cell: ({ node }: SourceStatus) => node }] : []),
    { title: "REASON", cell: ({ error }) => error, maxWidth: 400 },
  ];
}
