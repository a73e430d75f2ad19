/**
 * DOT for Graphviz: an undirected graph of the devices. Each cable is an edge, with an arrow if only one direction works.
 * Hosts are only counted in the label of their device: DOT is used for drawings, and a drawing with all hosts is not
 * readable.
 *
 * All strings are double-quoted, never HTML-like. Inside quotes Graphviz unescapes only `\"`. In labels it then
 * interprets escapes and entities, so backslashes and ampersands are escaped in labels. In ids a backslash stays doubled.
 */
import { mapPaced } from "../lib/steps.ts";
import type { Cable } from "../model/cable.ts";
import type { Device } from "../model/entity.ts";
import type { PacedText } from "./chunks.ts";
import {
  CABLE_STYLES,
  cableState,
  DEVICE_STYLES,
  deviceState,
  formatCount,
  MUTED_TEXT_COLOUR,
  TEXT_COLOUR,
} from "./drawing-style.ts";
import {
  assignNodeNames,
  cablesOf,
  countHosts,
  deviceIdsOf,
  deviceName,
  type TopologyGraph,
} from "./graph.ts";
import { fitLabel } from "./label.ts";

const MAX_LABEL_EMS = 24;

export function* renderDot(graph: TopologyGraph): PacedText {
  const devices = yield* deviceIdsOf(graph);
  const names = yield* assignNodeNames(graph, replaceUnsupported);
  const hostCounts = yield* countHosts(graph, devices);
  yield `graph "gazetteer" {\n`;
  yield `  graph [charset="UTF-8", overlap="false", splines="true", ranksep="1", fontname="sans-serif", \
label="${formatCaption(graph)}"]\n`;
  yield `  node [shape="box", style="rounded,filled", fontname="sans-serif", fontsize="11", fontcolor="${TEXT_COLOUR}"]\n`;
  yield `  edge [fontname="sans-serif", fontsize="8", fontcolor="${MUTED_TEXT_COLOUR}"]\n`;
  yield* mapPaced(
    graph.devices,
    (device) =>
      `  ${quote(names.device(device.id))} [${nodeAttributes(device, hostCounts.get(device.id) ?? 0)}]\n`,
  );
  yield* mapPaced(cablesOf(graph, devices), (cable) => {
    const [from, to] = [quote(names.device(cable.from.device)), quote(names.device(cable.to.device))];
    return `  ${from} -- ${to} [${edgeAttributes(cable)}]\n`;
  });
  yield "}\n";
}

function formatCaption({ topology, revision }: TopologyGraph): string {
  const counts = [
    formatCount(topology.devices, "device"),
    formatCount(topology.links, "link"),
    formatCount(topology.hosts, "host"),
  ];
  return `${counts.join(", ")}; revision ${revision}, ${new Date(topology.time).toISOString()}`;
}

const NODE_STYLES = {
  available: `style="rounded,filled"`,
  unavailable: `style="filled,dashed"`,
  conflict: `style="rounded,filled", peripheries="2"`,
} as const;

function nodeAttributes(device: Device, hosts: number): string {
  const state = deviceState(device);
  const { stroke, fill } = DEVICE_STYLES[state];
  const hostCount = hosts > 0 ? `, ${formatCount(hosts, "host")}` : "";
  const lines = [escapeLabel(deviceName(device)), `${device.type}${hostCount}`];
  if (state !== "available") lines.push(DEVICE_STYLES[state].label);
  return `label="${lines.join("\\n")}", ${NODE_STYLES[state]}, color="${stroke}", fillcolor="${fill}"`;
}

const EDGE_STYLES = { active: "solid", unverified: "dotted", inactive: "dashed", conflict: "bold" } as const;

function edgeAttributes(cable: Cable): string {
  const state = cableState(cable);
  const { label, stroke } = CABLE_STYLES[state];
  const ports = `taillabel="${escapeLabel(cable.from.port)}", headlabel="${escapeLabel(cable.to.port)}"`;
  const tooltip = `${label}${cable.oneWay ? ", one way" : ""}`;
  const arrow = cable.oneWay ? `, dir="forward"` : "";
  return `${ports}, style="${EDGE_STYLES[state]}", color="${stroke}", tooltip="${tooltip}"${arrow}`;
}

/** Replaces the characters that a C string (Graphviz's input) or XML (its output) cannot represent by U+FFFD. */
const replaceUnsupported = (text: string): string => text.replace(/\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, "\uFFFD");

const escapeQuotes = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
const quote = (text: string): string => `"${escapeQuotes(text)}"`;
const escapeLabel = (text: string): string =>
  escapeQuotes(fitLabel(text, MAX_LABEL_EMS).replaceAll("&", "&amp;"));
