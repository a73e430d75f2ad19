/**
 * Converts a graph to claims: a node is a device, or a host if its `kind` is `host` and it has a MAC address. An edge between
 * devices is a link; an edge between a host and a device is a location of the host. Items that cannot be claims are left out
 * and noted: an edge to a node that does not exist, a second edge between the same ports, a host without a device.
 */
import { isRecord } from "../lib/is-record.ts";
import { canonicalMac, canonicalPort, portNameOf } from "../model/address.ts";
import { CLAIM_LIMITS, type ClaimTypes, canonicalClaim } from "../model/claim.ts";
import { assignPortNumbers, type NamedPort } from "../model/derived-ids.ts";
import { deviceKey, idKey, type Kind, linkId } from "../model/ids.ts";
import {
  type Graph,
  type GraphEdge,
  type GraphNode,
  type ImportPosition,
  type Note,
  type SplitProperties,
  splitProperties,
  textOf,
} from "./import-graph.ts";

export type ClaimsResult =
  | { readonly ok: true; readonly claims: ImportedClaims; readonly notes: readonly Note[] }
  | { readonly ok: false; readonly fault: Note };
export type ImportedClaims = { readonly [K in Kind]: ClaimTypes[K][] };

interface End {
  readonly device: string;
  readonly port: string;
}

export function claimsOfGraph(graph: Graph): { claims: ImportedClaims; notes: readonly Note[] } {
  const builder = new ClaimBuilder(graph);
  builder.build();
  return { claims: builder.claims, notes: builder.notes };
}

class ClaimBuilder {
  readonly claims: ImportedClaims = { devices: [], ports: [], links: [], hosts: [] };
  readonly notes: Note[];
  readonly #graph: Graph;
  readonly #ids: ReadonlyMap<string, string>;
  readonly #hosts = new Map<string, GraphNode>();
  readonly #locations = new Map<string, ClaimTypes["hosts"]["locations"]>();
  /** Ports of each device, by the text that the file or this class uses for them. */
  readonly #ports = new Map<string, Map<string, { speedMbps?: number | undefined }>>();
  readonly #numbers = new Map<string, ReadonlyMap<string, string>>();
  readonly #links = new Map<string, ClaimTypes["links"]>();
  /** Keys of implied reverse links, which an edge of the file in that direction may still replace. */
  readonly #implied = new Set<string>();
  readonly #cables = new Map<string, number>();

  constructor(graph: Graph) {
    this.#graph = graph;
    this.notes = [...graph.notes];
    this.#ids = assignNodeIds(graph.nodes, this.notes);
  }

  build(): void {
    for (const node of this.#graph.nodes) if (isHost(node)) this.#hosts.set(node.id, node);
    this.#addDevices();
    const edges = this.#graph.edges.flatMap((edge) => this.#resolve(edge));
    this.#addPorts();
    for (const { edge, source, target } of edges) this.#addEdge(edge, source, target);
    for (const claim of this.#links.values()) this.claims.links.push(claim);
    this.#addHosts();
  }

  #addDevices(): void {
    const seen = new Set<string>();
    for (const node of this.#graph.nodes) {
      const { at, id: name, aliases = [], ports = [] } = node;
      const id = this.#ids.get(name);
      if (id === undefined || seen.has(name)) {
        this.#leaveOut(node, `the node ${JSON.stringify(name)}: it is a second one with this id`);
        continue;
      }
      seen.add(name);
      if (this.#hosts.has(name)) continue;
      const { fields, ...rest } = this.#split("devices", node);
      const annotations = id === name ? rest.annotations : { name, ...rest.annotations };
      const record = { id, ...fields, ...nonEmpty({ annotations }), ...(aliases.length > 0 && { aliases }) };
      if (this.#accept("devices", record, at)) for (const port of ports) this.#usePort(id, port);
    }
  }

  /** Finds the two ports of an edge; returns nothing where an end of the edge does not exist. */
  #resolve(edge: GraphEdge): { edge: GraphEdge; source: End; target: End }[] {
    const [source, target] = [this.#ids.get(edge.source), this.#ids.get(edge.target)];
    if (source === undefined || target === undefined) {
      const missing = source === undefined ? edge.source : edge.target;
      this.#leaveOut(edge, `${describe(edge)}: there is no node ${JSON.stringify(missing)}`);
      return [];
    }
    const number = this.#cableNumber(edge, source, target);
    const suffix = number === 1 ? "" : `-${number}`;
    const [from, to] = [
      { device: source, port: edge.sourcePort ?? `to-${target}${suffix}` },
      { device: target, port: edge.targetPort ?? `${source === target ? "from" : "to"}-${source}${suffix}` },
    ];
    if (!this.#hosts.has(edge.source)) this.#usePort(from.device, from.port, edge.speedMbps);
    if (!this.#hosts.has(edge.target)) this.#usePort(to.device, to.port, edge.speedMbps);
    return [{ edge, source: from, target: to }];
  }

  /** Counts the cables between two nodes from 1, so that parallel edges without ports get ports of their own. */
  #cableNumber({ direction }: GraphEdge, source: string, target: string): number {
    const ends = direction === "both" && target < source ? [target, source] : [source, target];
    const key = JSON.stringify(ends);
    const number = (this.#cables.get(key) ?? 0) + 1;
    this.#cables.set(key, number);
    return number;
  }

  #usePort(device: string, port: string, speedMbps?: number): void {
    const ports = this.#ports.get(device) ?? new Map<string, { speedMbps?: number | undefined }>();
    ports.set(port, { speedMbps: ports.get(port)?.speedMbps ?? speedMbps });
    this.#ports.set(device, ports);
  }

  #addPorts(): void {
    for (const [element, ports] of this.#ports) {
      const numbers = assignPortNumbers([...ports.keys()].flatMap(namedPort));
      this.#numbers.set(element, numbers);
      const added = new Set<string>();
      for (const [text, { speedMbps }] of ports) {
        const port = this.#portNumber(element, text);
        if (added.has(port)) continue;
        added.add(port);
        const portName = canonicalPort(text) === undefined ? text : portNameOf(text);
        const record = {
          element,
          port,
          ...(speedMbps !== undefined && { portSpeed: speedMbps }),
          ...(portName !== undefined && { annotations: { portName } }),
        };
        const result = canonicalClaim("ports", record);
        if (result.ok) this.claims.ports.push(result.claim);
      }
    }
  }

  #portNumber(device: string, text: string): string {
    const logical = canonicalPort(text);
    return this.#numbers.get(device)?.get(text) ?? logical ?? text;
  }

  #addEdge(edge: GraphEdge, source: End, target: End): void {
    const [sourceHost, targetHost] = [this.#hosts.get(edge.source), this.#hosts.get(edge.target)];
    if (sourceHost && targetHost) {
      this.#leaveOut(edge, `${describe(edge)}: both ends are hosts`);
      return;
    }
    const toEnd = ({ device, port }: End) => ({ device, port: this.#portNumber(device, port) });
    if (sourceHost) this.#attach(sourceHost, toEnd(target));
    else if (targetHost) this.#attach(targetHost, toEnd(source));
    else this.#addLink(edge, toEnd(source), toEnd(target));
  }

  #attach({ id }: GraphNode, { device, port }: End): void {
    const locations = this.#locations.get(id) ?? [];
    this.#locations.set(id, [...locations, { elementId: device, port }]);
  }

  #addLink(edge: GraphEdge, src: End, dst: End): void {
    const { fields, annotations } = this.#split("links", edge);
    const record = { src, dst, ...fields, ...nonEmpty({ annotations }) };
    const result = canonicalClaim("links", record);
    if (!result.ok) {
      this.#leaveOut(edge, `${describe(edge)}: ${faultText(result.fault)}`);
      return;
    }
    const key = idKey("links", result.id);
    if (this.#links.get(key) && !this.#implied.delete(key)) {
      this.#leaveOut(edge, `${describe(edge)}: it is a second one between the same ports`);
      return;
    }
    this.#links.set(key, result.claim);
    if (edge.direction === "forward") return;
    const reverse = idKey("links", linkId(dst, src));
    if (this.#links.has(reverse)) return;
    this.#links.set(reverse, { ...result.claim, src: result.claim.dst, dst: result.claim.src });
    if (edge.direction === "each") this.#implied.add(reverse);
  }

  #addHosts(): void {
    for (const [name, node] of this.#hosts) {
      const { mac, vlan, auxLocations } = node.properties;
      const locations = this.#locations.get(name);
      if (!locations) {
        this.#leaveOut(node, `the host ${JSON.stringify(name)}: no edge leads from it to a device`);
        continue;
      }
      const aux = parseLocations(auxLocations);
      const { fields, annotations } = this.#split("hosts", {
        ...node,
        properties: withAddressList(node.properties),
      });
      const identity = { mac, ...(vlan !== undefined && { vlan: textOf(vlan) }) };
      const record = {
        ...identity,
        ...fields,
        locations,
        ...(aux.length > 0 && { auxLocations: aux }),
        ...nonEmpty({ annotations }),
      };
      this.#accept("hosts", record, node.at);
    }
  }

  #split(kind: "devices" | "links" | "hosts", item: GraphNode | GraphEdge): SplitProperties {
    const split = splitProperties(kind, item.properties, item.annotations ?? {}, this.#graph.ownExport);
    for (const { name, reason } of split.unfit)
      this.#leaveOut(item, `the property ${JSON.stringify(name.slice(0, 40))}: ${reason}`);
    return split;
  }

  #accept(kind: "devices" | "hosts", record: object, at: ImportPosition): boolean {
    const result = canonicalClaim(kind, record);
    if (!result.ok) this.notes.push({ at, message: `left out: ${faultText(result.fault)}` });
    else if ("locations" in result.claim) this.claims.hosts.push(result.claim);
    else if ("id" in result.claim) this.claims.devices.push(result.claim);
    return result.ok;
  }

  #leaveOut({ at }: { readonly at: ImportPosition }, message: string): void {
    this.notes.push({ at, message: `left out ${message}` });
  }
}

const describe = ({ source, target }: GraphEdge): string =>
  `the edge from ${JSON.stringify(source)} to ${JSON.stringify(target)}`;

const faultText = ({ field, message }: { field: string; message: string }): string =>
  `${field.slice(1).replaceAll("/", ".")} ${message}`;

const isHost = ({ properties }: GraphNode): boolean =>
  properties.kind === "host" && canonicalMac(textOf(properties.mac) ?? "") !== undefined;

/** Converts a port for the assignment of numbers. Ports with a number keep it; `local` and `controller` need none. */
function namedPort(text: string): NamedPort[] {
  const number = canonicalPort(text);
  if (number === undefined) return [{ name: text }];
  return /^\d/.test(number) ? [{ name: text, number: Number(number) }] : [];
}

const nonEmpty = ({ annotations }: { annotations: Record<string, string> }): object =>
  Object.keys(annotations).length > 0 ? { annotations } : {};

/** Splits the addresses into a list, because GraphML stores a list as one text. */
const withAddressList = (properties: GraphNode["properties"]): GraphNode["properties"] =>
  typeof properties.ipAddresses === "string"
    ? { ...properties, ipAddresses: properties.ipAddresses.split(" ").filter((ip) => ip !== "") }
    : properties;

/** Parses a list of objects as in NetJSON, or `DEVICE/PORT DEVICE/PORT` as in GraphML. */
function parseLocations(value: unknown): { elementId: string; port: string }[] {
  if (Array.isArray(value)) {
    return value
      .filter(isRecord)
      .map(({ elementId, port }) => ({ elementId: textOf(elementId) ?? "", port: textOf(port) ?? "" }));
  }
  if (typeof value !== "string") return [];
  return value.split(" ").flatMap((text) => {
    const slash = text.lastIndexOf("/");
    return slash > 0 ? [{ elementId: text.slice(0, slash), port: text.slice(slash + 1) }] : [];
  });
}

// A node keeps the id of the file as its device id if it is valid and no other node has it in upper or lower case, because
// users know and store it. Any other id is changed as little as possible, and the change is noted.

/** Maximum length of a changed id, which leaves room for a number at the end. */
const MAX_CHANGED_LENGTH = CLAIM_LIMITS.id - 16;

const isValidId = (id: string): boolean => canonicalClaim("devices", { id }).ok;

/** Assigns an id to each node, by its id in the file. Of two nodes with the same id in the file, the first is used. */
function assignNodeIds(nodes: readonly GraphNode[], notes: Note[]): Map<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const isFree = (id: string) => !taken.has(deviceKey(id));
  const assign = (node: GraphNode, id: string) => {
    ids.set(node.id, id);
    taken.add(deviceKey(id));
  };
  const others: GraphNode[] = [];
  const seen = new Set<string>();
  for (const node of nodes) {
    if (seen.has(node.id)) continue;
    seen.add(node.id);
    if (isValidId(node.id) && isFree(node.id)) assign(node, node.id);
    else others.push(node);
  }
  for (const node of others) {
    const base =
      node.id
        .toWellFormed()
        .replaceAll(/[\s\p{Cc}\p{Bidi_Control}]/gu, "_")
        .slice(0, MAX_CHANGED_LENGTH)
        .toWellFormed() || "node";
    let id = base;
    for (let n = 2; !isFree(id); n++) id = `${base}~${n}`;
    assign(node, id);
    const reason = isValidId(node.id)
      ? "another node has the same id in another case"
      : "an id has 1 to 255 characters, none of them a space, a control character or a mark of the text direction";
    notes.push({ at: node.at, message: `the node ${JSON.stringify(node.id)} gets the id ${id}: ${reason}` });
  }
  return ids;
}
