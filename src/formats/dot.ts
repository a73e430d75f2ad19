/**
 * DOT for Graphviz: an undirected graph of the devices, a line a cable, an arrow where only one direction works.
 * Hosts are a count in the label of their device: Graphviz is for pictures, and a picture with all hosts is none.
 *
 * All strings are double-quoted, never HTML-like. Inside quotes Graphviz undoes only `\"`, then reads escapes and
 * entities in labels, so labels have backslashes and ampersands doubled up; in ids a backslash stays doubled.
 */

import type { Cable } from "../model/cable.ts";
import type { Device } from "../model/entity.ts";
import { inChunks } from "./chunks.ts";
import { cablesOf, deviceName, hostCounts, nodeNames, type TopologyGraph } from "./graph.ts";
import { pictureLabel } from "./label.ts";
import { counted, DEVICE_LOOKS, deviceState, INK, LINE_LOOKS, lineState, MUTED } from "./drawing-style.ts";

const LABEL_EMS = 24;

export function renderDot(graph: TopologyGraph): Iterable<string> {
  return inChunks(document(graph));
}

function* document(graph: TopologyGraph): Generator<string> {
  const names = nodeNames(graph, drawable);
  const hosts = hostCounts(graph);
  yield `graph "gazetteer" {\n`;
  yield `  graph [charset="UTF-8", overlap="false", splines="true", ranksep="1", fontname="sans-serif", \
label="${caption(graph)}"]\n`;
  yield `  node [shape="box", style="rounded,filled", fontname="sans-serif", fontsize="11", fontcolor="${INK}"]\n`;
  yield `  edge [fontname="sans-serif", fontsize="8", fontcolor="${MUTED}"]\n`;
  for (const device of graph.devices) {
    yield `  ${quoted(names.device(device.id))} [${nodeAttributes(device, hosts.get(device.id) ?? 0)}]\n`;
  }
  for (const edge of cablesOf(graph)) {
    const [from, to] = [quoted(names.device(edge.from.device)), quoted(names.device(edge.to.device))];
    yield `  ${from} -- ${to} [${edgeAttributes(edge)}]\n`;
  }
  yield "}\n";
}

function caption({ topology, revision, devices, links, hosts }: TopologyGraph): string {
  const counts = [
    counted(devices.length, "device"),
    counted(links.length, "link"),
    counted(hosts.length, "host"),
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
  const { stroke, fill } = DEVICE_LOOKS[state];
  const lines = [label(deviceName(device)), device.type + (hosts > 0 ? `, ${counted(hosts, "host")}` : "")];
  if (state !== "available") lines.push(DEVICE_LOOKS[state].words);
  return `label="${lines.join("\\n")}", ${NODE_STYLES[state]}, color="${stroke}", fillcolor="${fill}"`;
}

const EDGE_STYLES = { active: "solid", unverified: "dotted", inactive: "dashed", conflict: "bold" } as const;

function edgeAttributes(edge: Cable): string {
  const state = lineState(edge);
  const ports = `taillabel="${label(edge.from.port)}", headlabel="${label(edge.to.port)}"`;
  const arrow = edge.oneWay ? `, dir="forward"` : "";
  const words = `${LINE_LOOKS[state].words}${edge.oneWay ? ", one way" : ""}`;
  return `${ports}, style="${EDGE_STYLES[state]}", color="${LINE_LOOKS[state].stroke}", tooltip="${words}"${arrow}`;
}

/** Graphviz reads C strings and writes XML: what either cannot carry becomes U+FFFD. */
const drawable = (text: string): string => text.replace(/\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, "\uFFFD");

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
const quoted = (text: string): string => `"${escaped(text)}"`;
const label = (text: string): string => escaped(pictureLabel(text, LABEL_EMS).replaceAll("&", "&amp;"));
