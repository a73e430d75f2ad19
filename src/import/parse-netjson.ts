/**
 * Reads a NetJSON NetworkGraph (https://netjson.org/rfc.html, section 4). A link is one cable. If a routing protocol lists
 * both directions, with a cost each, they are the two directions of one cable.
 */
import { isRecord } from "../lib/is-record.ts";
import { canonicalIp } from "../model/address.ts";
import { type GraphEdge, type GraphNode, type GraphResult, type Note, textOf } from "./import-graph.ts";

/** The value of `protocol` in exports of this service. */
const OWN_PROTOCOL = "gazetteer";

export function parseNetJson(document: unknown): GraphResult {
  if (!isRecord(document)) return { ok: false, fault: { message: "is not a NetJSON object" } };
  const { type, nodes, links } = document;
  if (type !== "NetworkGraph") {
    const found = type === undefined ? "has no type" : `is of type ${JSON.stringify(type)}`;
    return { ok: false, fault: { at: ["type"], message: `${found}: only a NetworkGraph can be imported` } };
  }
  if (!Array.isArray(nodes)) return { ok: false, fault: { at: ["nodes"], message: "nodes: must be a list" } };
  if (!Array.isArray(links)) return { ok: false, fault: { at: ["links"], message: "links: must be a list" } };
  const notes: Note[] = [];
  const ownExport = document.protocol === OWN_PROTOCOL;
  const graph = {
    nodes: nodes.flatMap((node: unknown, index) => parseNode(node, index, ownExport, notes)),
    edges: links.flatMap((link: unknown, index) => parseLink(link, index, ownExport, notes)),
    notes,
    ownExport,
  };
  return { ok: true, graph };
}

function parseNode(node: unknown, index: number, ownExport: boolean, notes: Note[]): GraphNode[] {
  const at = ["nodes", index];
  const id = isRecord(node) ? textOf(node.id) : undefined;
  if (!isRecord(node) || id === undefined) {
    notes.push({ at, message: `left out nodes[${index}]: it has no id` });
    return [];
  }
  const { id: _, label, local_addresses: addresses, properties, ...others } = node;
  const { annotations, aliases, ...facts } = isRecord(properties) ? properties : {};
  const localAddresses = Array.isArray(addresses) ? addresses.flatMap((text) => textOf(text) ?? []) : [];
  const isHost = facts.kind === "host";
  return [
    {
      at,
      id,
      properties: {
        ...others,
        ...(label !== id && { label }),
        ...facts,
        ...(!ownExport && { aliases }),
        ...(isHost && { ipAddresses: localAddresses.filter((text) => canonicalIp(text) !== undefined) }),
      },
      annotations: {
        ...(!isHost && addressAnnotations(localAddresses)),
        ...(isRecord(annotations) && annotations),
      },
      ...(ownExport && Array.isArray(aliases) && { aliases: aliases.flatMap((text) => textOf(text) ?? []) }),
    },
  ];
}

function addressAnnotations(addresses: readonly string[]): Record<string, string> {
  const managementAddress = addresses.find((text) => canonicalIp(text) !== undefined);
  return {
    ...(managementAddress !== undefined && { managementAddress }),
    ...(addresses.length > 1 && { localAddresses: addresses.join(" ") }),
  };
}

function parseLink(link: unknown, index: number, ownExport: boolean, notes: Note[]): GraphEdge[] {
  const at = ["links", index];
  const [source, target] = isRecord(link) ? [textOf(link.source), textOf(link.target)] : [];
  if (!isRecord(link) || source === undefined || target === undefined) {
    notes.push({ at, message: `left out links[${index}]: it has no source or no target` });
    return [];
  }
  const { source: _, target: __, cost, properties, ...others } = link;
  const { annotations, source_port, target_port, bidirectional, ...facts } = isRecord(properties)
    ? properties
    : {};
  return [
    {
      at,
      source,
      target,
      sourcePort: textOf(source_port),
      targetPort: textOf(target_port),
      direction: bidirectional === false ? "forward" : "each",
      properties: { ...others, ...(!ownExport && { cost }), ...facts },
      ...(isRecord(annotations) && { annotations }),
    },
  ];
}
