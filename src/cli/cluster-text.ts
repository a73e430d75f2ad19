/** A cluster as text: tables of its nodes, its sources and its NATS servers. */
import type { ClusterNode, ClusterOverview, OverviewPart } from "../model/cluster-overview.ts";
import { type Column, escapeControlCharacters, renderTable } from "./table.ts";

const MIB = 1024 * 1024;

/** SINCE is the time at which the node was started or lost. AGE is the age of the status that the row shows. */
const nodeColumns = (now: number): readonly Column<ClusterNode>[] => [
  { title: "NODE", cell: ({ name }) => name },
  {
    title: "STATE",
    cell: ({ lostSince }) => (lostSince === undefined ? "live" : "lost"),
    styles: { lost: "red" },
  },
  { title: "URL", cell: ({ url }) => url },
  { title: "VERSION", cell: ({ version }) => version },
  { title: "REVISION", cell: ({ revision }) => revision },
  { title: "LAG", cell: ({ lag }) => lag },
  { title: "RUNS", cell: ({ held }) => held },
  { title: "SINCE", cell: ({ since, lostSince }) => timeText(lostSince ?? since) },
  { title: "AGE", cell: ({ ageSeconds }) => ageText(now - 1000 * ageSeconds, now) },
  { title: "TROUBLE", cell: ({ trouble }) => trouble },
];

interface SourceRow {
  readonly source: string;
  readonly runsOn: string | undefined;
  readonly configuredOn: readonly string[];
}

const SOURCES: readonly Column<SourceRow>[] = [
  { title: "SOURCE", cell: ({ source }) => source },
  { title: "RUNS ON", cell: ({ runsOn }) => runsOn ?? "none", styles: { none: "red" } },
  { title: "CONFIGURED ON", cell: ({ configuredOn }) => configuredOn },
];

type Engine = NonNullable<ClusterOverview["engine"]>;

const SERVERS: readonly Column<Engine["servers"][number]>[] = [
  { title: "NATS SERVER", cell: ({ name }) => name },
  {
    title: "STATE",
    cell: ({ state }) => state,
    styles: { offline: "red", behind: "yellow", leader: "green" },
  },
  { title: "SINCE", cell: ({ offlineSince: since }) => (since === undefined ? undefined : timeText(since)) },
  { title: "LAG", cell: ({ lag }) => lag },
];

export function renderClusterStatus(
  { name, nodes, leases, engine, snapshots, errors = [] }: ClusterOverview,
  { colour, now }: { readonly colour: boolean; readonly now: number },
): string {
  const isUnread = (part: OverviewPart) => errors.some((error) => error.part === part);
  const lost = nodes.filter(({ lostSince }) => lostSince !== undefined).length;
  const nodesText = isUnread("nodes")
    ? "nodes not known"
    : `${countText(nodes.length - lost, "node")}${lost === 0 ? "" : ` and ${lost} lost`}`;
  // If the leases cannot be read, the statuses of the nodes show which sources run.
  const running = isUnread("leases")
    ? nodes.flatMap(({ name: node, held }) => held.map((source) => ({ source, node })))
    : leases;
  const parts = [
    `cluster ${name ?? ""}: ${nodesText}, ${countText(running.length, "source")} running\n`,
    ...(nodes.length > 0 ? [renderTable(nodes, nodeColumns(now), { colour })] : []),
  ];
  const sources = sourceRows(nodes, running);
  if (sources.length > 0) parts.push(renderTable(sources, SOURCES, { colour }));
  const lines = [
    ...(engine ? engineLines(engine) : []),
    ...(snapshots ? snapshotLines(snapshots, engine !== undefined, now) : []),
  ];
  if (lines.length > 0) parts.push(linesText(lines));
  if (engine && engine.servers.length > 0) parts.push(renderTable(engine.servers, SERVERS, { colour }));
  if (errors.length > 0)
    parts.push(linesText(errors.map(({ part, message }) => `${part} cannot be read: ${message}`)));
  return parts.join("\n");
}

const linesText = (lines: readonly string[]): string => `${lines.map(escapeControlCharacters).join("\n")}\n`;

function sourceRows(nodes: readonly ClusterNode[], leases: ClusterOverview["leases"]): SourceRow[] {
  const holders = new Map(leases.map(({ source, node }) => [source, node]));
  const names = new Set([...nodes.flatMap(({ sources }) => sources), ...holders.keys()]);
  return [...names].sort().map((source) => ({
    source,
    runsOn: holders.get(source),
    configuredOn: nodes.filter(({ sources }) => sources.includes(source)).map((node) => node.name),
  }));
}

function engineLines({ stream, replicas, servers, messages, bytes, maxBytes }: Engine): string[] {
  const limit = maxBytes === undefined ? "" : ` of ${bytesText(maxBytes)}`;
  const hasLeader = servers.some(({ state }) => state === "leader");
  const unknown = replicas - servers.length;
  return [
    `stream ${stream}: ${countText(replicas, "replica")}, ${countText(messages, "message")}, ${bytesText(bytes)}${limit}`,
    ...(hasLeader || replicas === 1 ? [] : ["the stream has no leader: changes wait"]),
    ...(hasLeader && unknown > 0
      ? [`${countText(unknown, "NATS server")} of the stream ${unknown === 1 ? "is" : "are"} not known now`]
      : []),
  ];
}

const snapshotLines = (
  snapshots: NonNullable<ClusterOverview["snapshots"]>,
  hasStream: boolean,
  now: number,
): string[] =>
  snapshots.length === 0
    ? [hasStream ? "no snapshot yet: a new node reads the whole stream" : "no snapshot"]
    : snapshots.map(
        ({ revision, bytes, time }) =>
          `snapshot of revision ${revision}: ${bytesText(bytes)}, ${ageText(time, now)} old`,
      );

export const countText = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
export const bytesText = (bytes: number): string =>
  bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
export const timeText = (epochMs: number): string => new Date(epochMs).toISOString().replace(/\.\d+Z$/, "Z");

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
] as const;

/** An age such as `5s`, `12m`, `3h` or `40d`, in the largest unit of which there are at least two. */
export function ageText(since: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  const [unit, length] = UNITS.find(([, size]) => seconds >= 2 * size) ?? ["s", 1];
  return `${Math.floor(seconds / length)}${unit}`;
}
