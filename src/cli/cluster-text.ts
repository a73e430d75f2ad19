/** A cluster as text: tables of its nodes, its sources and its NATS servers. */
import type { ClusterNode, ClusterOverview } from "../model/cluster-overview.ts";
import { type Column, escapeControlCharacters, renderTable } from "./table.ts";

const MIB = 1024 * 1024;

const NODES: readonly Column<ClusterNode>[] = [
  { title: "NODE", cell: ({ name }) => name },
  { title: "URL", cell: ({ url }) => url },
  { title: "VERSION", cell: ({ version }) => version },
  { title: "REVISION", cell: ({ revision }) => revision },
  { title: "LAG", cell: ({ lag }) => lag },
  { title: "RUNS", cell: ({ held }) => held },
  { title: "SINCE", cell: ({ since }) => timeText(since) },
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
  { title: "LAG", cell: ({ lag }) => lag },
];

export function renderClusterStatus(
  { name, nodes, leases, engine }: ClusterOverview,
  { colour, now }: { readonly colour: boolean; readonly now: number },
): string {
  const parts = [
    `cluster ${name ?? ""}: ${countText(nodes.length, "node")}, ${countText(leases.length, "source")} running\n`,
    ...(nodes.length > 0 ? [renderTable(nodes, NODES, { colour })] : []),
  ];
  const sources = sourceRows(nodes, leases);
  if (sources.length > 0) parts.push(renderTable(sources, SOURCES, { colour }));
  if (engine) parts.push(...renderEngine(engine, colour, now));
  return parts.join("\n");
}

function sourceRows(nodes: readonly ClusterNode[], leases: ClusterOverview["leases"]): SourceRow[] {
  const holders = new Map(leases.map(({ source, node }) => [source, node]));
  const names = new Set([...nodes.flatMap(({ sources }) => sources), ...holders.keys()]);
  return [...names].sort().map((source) => ({
    source,
    runsOn: holders.get(source),
    configuredOn: nodes.filter(({ sources }) => sources.includes(source)).map((node) => node.name),
  }));
}

function renderEngine(engine: Engine, colour: boolean, now: number): string[] {
  const { stream, replicas, servers, messages, bytes, maxBytes, snapshots } = engine;
  const limit = maxBytes === undefined ? "" : ` of ${bytesText(maxBytes)}`;
  const lines = [
    `stream ${stream}: ${countText(replicas, "replica")}, ${countText(messages, "message")}, ${bytesText(bytes)}${limit}`,
    ...snapshots.map(
      (snapshot) =>
        `snapshot of revision ${snapshot.revision}: ${bytesText(snapshot.bytes)}, ${Math.max(0, Math.round((now - snapshot.time) / 1000))} s old`,
    ),
    ...(snapshots.length === 0 ? ["no snapshot yet: a new node reads the whole stream"] : []),
    ...(servers.some(({ state }) => state === "leader") || replicas === 1
      ? []
      : ["the stream has no leader: changes wait"]),
  ];
  const text = `${lines.map(escapeControlCharacters).join("\n")}\n`;
  return servers.length === 0 ? [text] : [text, renderTable(servers, SERVERS, { colour })];
}

export const countText = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
export const bytesText = (bytes: number): string =>
  bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
export const timeText = (epochMs: number): string => new Date(epochMs).toISOString().replace(/\.\d+Z$/, "Z");
