/**
 * Reads GraphML (http://graphml.graphdrawing.org): files of the Internet Topology Zoo, of graph tools such as NetworkX,
 * Gephi and yEd, and exports of this service. Of the extensions only labels are read, because shapes and colours do not
 * describe the network.
 *
 * `saxes` parses the XML. It rejects malformed XML with the line, and neither reads external entities nor expands entities of
 * a DTD. A document with a DTD is refused. The parser does not recurse, so the depth of a document is not limited.
 */
import { SaxesParser, type SaxesTagPlain } from "saxes";
import type { GraphEdge, GraphNode, GraphResult, Note, Properties } from "./import-graph.ts";

const CHUNK_CHARS = 64 * 1024;
const OWN_GRAPH_ID = "gazetteer";

export function parseGraphml(text: string): GraphResult {
  const reader = new GraphmlReader();
  const fault = reader.read(text);
  return fault ? { ok: false, fault } : { ok: true, graph: reader.graph() };
}

type Value = string | boolean;

interface Key {
  readonly name: string;
  readonly type: string;
  readonly domain: string;
  defaultText?: string;
}

/** A node or edge while it is read. */
interface Item {
  readonly line: number;
  readonly attributes: ReadonlyMap<string, string>;
  readonly data: Map<string, Value>;
  readonly ports: string[];
  /** Whether the graph is directed, for edges that do not state it. */
  readonly directed: boolean;
  /** The id of the node whose nested graph contains this node. */
  readonly group: string | undefined;
}

class GraphmlReader {
  readonly #parser = new SaxesParser();
  readonly #keys = new Map<string, Key>();
  readonly #nodes: Item[] = [];
  readonly #edges: Item[] = [];
  readonly #notes: Note[] = [];
  readonly #directedGraphs: boolean[] = [];
  /** The open elements that can have data. Elements other than nodes and edges are undefined. */
  readonly #open: (Item | undefined)[] = [];
  #fault: Note | undefined;
  #ownExport = false;
  #depth = 0;
  #key: Key | undefined;
  /** The key of the open `data` element. `#text` is its text; within nested elements, the text since the last opening tag. */
  #dataKey: string | undefined;
  #text = "";
  #dataHasElements = false;

  read(text: string): Note | undefined {
    this.#parser.on("error", (error) => this.#fail(error.message.replace(/^(?:\d+:\d+: )/, "")));
    this.#parser.on("doctype", () =>
      this.#fail("has a DOCTYPE: documents with a DTD are refused; remove the declaration"),
    );
    this.#parser.on("opentag", (tag) => this.#openTag(tag));
    this.#parser.on("closetag", (tag) => this.#closeTag(localName(tag.name)));
    this.#parser.on("text", (part) => this.#addText(part));
    this.#parser.on("cdata", (part) => this.#addText(part));
    for (let at = 0; at < text.length && !this.#fault; at += CHUNK_CHARS)
      this.#parser.write(text.slice(at, at + CHUNK_CHARS));
    if (!this.#fault) this.#parser.close();
    return this.#fault;
  }

  graph() {
    return {
      nodes: this.#nodes.flatMap((item) => this.#toNode(item)),
      edges: this.#edges.flatMap((item) => this.#toEdge(item)),
      notes: this.#notes,
      ownExport: this.#ownExport,
    };
  }

  /** Records a fault. Only the first one is kept, because later ones are often caused by it. */
  #fail(message: string): void {
    this.#fault ??= { at: this.#parser.line, message: `is not GraphML: ${message}` };
  }

  #addText(text: string): void {
    if (this.#dataKey !== undefined || this.#key) this.#text += text;
  }

  #openTag(tag: SaxesTagPlain): void {
    const local = localName(tag.name);
    const attributes = new Map(Object.entries(tag.attributes));
    if (this.#depth++ === 0 && local !== "graphml") this.#fail(`the root element is ${local}`);
    if (this.#dataKey !== undefined) {
      this.#dataHasElements = true;
      this.#text = "";
      return;
    }
    switch (local) {
      case "key":
        this.#addKey(attributes);
        break;
      case "graph":
        this.#directedGraphs.push(attributes.get("edgedefault") === "directed");
        this.#ownExport ||= attributes.get("id") === OWN_GRAPH_ID;
        break;
      case "node":
        this.#nodes.push(this.#openItem(attributes));
        break;
      case "edge":
        this.#edges.push(this.#openItem(attributes));
        break;
      case "hyperedge":
        this.#open.push(undefined);
        this.#notes.push({
          at: this.#parser.line,
          message: "left out a hyperedge: a link has two ends; describe it as a node with edges",
        });
        break;
      case "port":
        this.#open.at(-1)?.ports.push(attributes.get("name") ?? "");
        this.#open.push(undefined);
        break;
      case "data":
        this.#dataKey = attributes.get("key") ?? "";
        this.#dataHasElements = false;
        this.#text = "";
        break;
    }
  }

  #openItem(attributes: ReadonlyMap<string, string>): Item {
    const item = {
      line: this.#parser.line,
      attributes,
      data: new Map<string, Value>(),
      ports: [],
      directed: this.#directedGraphs.at(-1) ?? false,
      group: this.#open.findLast((parent) => parent !== undefined)?.attributes.get("id"),
    };
    this.#open.push(item);
    return item;
  }

  #addKey(attributes: ReadonlyMap<string, string>): void {
    const id = attributes.get("id") ?? "";
    const name = attributes.get("attr.name") ?? id;
    const [domain, type] = [attributes.get("for") ?? "all", attributes.get("attr.type") ?? "string"];
    this.#key = { name, type, domain };
    this.#text = "";
    this.#keys.set(id, this.#key);
  }

  #closeTag(local: string): void {
    this.#depth--;
    if (this.#dataKey !== undefined) {
      if (local === "NodeLabel" || local === "EdgeLabel") this.#setData("label");
      else if (local === "data") this.#closeData(this.#dataKey);
      return;
    }
    if (local === "default" && this.#key) this.#key.defaultText = this.#text.trim();
    else if (local === "key") this.#key = undefined;
    else if (local === "graph") this.#directedGraphs.pop();
    else if (["node", "edge", "hyperedge", "port"].includes(local)) this.#open.pop();
  }

  #closeData(keyId: string): void {
    const key = this.#keys.get(keyId);
    if (!this.#dataHasElements) this.#setData(key?.name ?? keyId, key?.type);
    this.#dataKey = undefined;
  }

  #setData(name: string, type = "string"): void {
    const text = this.#text.trim();
    if (text !== "") this.#open.at(-1)?.data.set(name, convert(text, type));
  }

  /** The data of an item, with the defaults of the keys for this domain. */
  #properties({ data }: Item, domain: string): Record<string, Value> {
    const properties = new Map<string, Value>();
    for (const key of this.#keys.values()) {
      const applies = key.domain === domain || key.domain === "all";
      if (applies && key.defaultText) properties.set(key.name, convert(key.defaultText, key.type));
    }
    for (const [name, value] of data) properties.set(name, value);
    return Object.fromEntries(properties);
  }

  #toNode(item: Item): GraphNode[] {
    const id = item.attributes.get("id");
    if (id === undefined) {
      this.#notes.push({ at: item.line, message: "left out a node: it has no id" });
      return [];
    }
    const { aliases, label, ...rest } = this.#properties(item, "node");
    const { properties, annotations } = separateAnnotations({
      ...rest,
      ...(label !== undefined && label !== id && { label }),
      ...(item.group !== undefined && { group: item.group }),
    });
    const isOwnAliases = this.#ownExport && typeof aliases === "string";
    return [
      {
        at: item.line,
        id,
        properties: aliases === undefined || isOwnAliases ? properties : { ...properties, aliases },
        annotations,
        ports: item.ports,
        ...(isOwnAliases && { aliases: aliases.split(" ") }),
      },
    ];
  }

  #toEdge(item: Item): GraphEdge[] {
    const { attributes, line: at } = item;
    const [source, target] = [attributes.get("source"), attributes.get("target")];
    if (source === undefined || target === undefined) {
      this.#notes.push({ at, message: "left out an edge: it has no source or no target" });
      return [];
    }
    const { srcPort, dstPort, ...rest } = this.#properties(item, "edge");
    const directed = attributes.get("directed") ?? String(item.directed);
    return [
      {
        at,
        source,
        target,
        sourcePort: attributes.get("sourceport") ?? (srcPort === undefined ? undefined : String(srcPort)),
        targetPort: attributes.get("targetport") ?? (dstPort === undefined ? undefined : String(dstPort)),
        direction: directed === "true" ? "forward" : "both",
        speedMbps: linkSpeedMbps(rest),
        ...separateAnnotations(rest),
      },
    ];
  }
}

/** The name without its prefix. Namespaces are not resolved, because the library searches all open elements for each name. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

const ANNOTATION_PREFIX = "annotations.";

/** Separates the annotations. Exports of this service have a prefixed key for each annotation. */
function separateAnnotations(data: Record<string, Value>): {
  properties: Record<string, Value>;
  annotations: Record<string, Value>;
} {
  const entries = Object.entries(data);
  const isAnnotation = ([name]: [string, Value]) => name.startsWith(ANNOTATION_PREFIX);
  return {
    properties: Object.fromEntries(entries.filter((entry) => !isAnnotation(entry))),
    annotations: Object.fromEntries(
      entries.filter(isAnnotation).map(([name, value]) => [name.slice(ANNOTATION_PREFIX.length), value]),
    ),
  };
}

/** Converts booleans. Numbers stay text, because no field of a node or edge is a number, and annotations keep the digits. */
function convert(text: string, type: string): Value {
  if (type !== "boolean") return text;
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : text;
}

// The Internet Topology Zoo writes the speed of a link in bit/s, or as a number and a unit.

const BITS_PER_UNIT: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** The speed in Mb/s; undefined when there is none, or none that can be read. */
function linkSpeedMbps({ LinkSpeedRaw, LinkSpeed, LinkSpeedUnits }: Properties): number | undefined {
  const raw = positive(LinkSpeedRaw);
  if (raw !== undefined) return raw / 1e6;
  const speed = positive(LinkSpeed);
  const unit =
    BITS_PER_UNIT[
      String(LinkSpeedUnits ?? "")
        .toUpperCase()
        .slice(0, 1)
    ];
  return speed === undefined || unit === undefined ? undefined : (speed * unit) / 1e6;
}

function positive(value: unknown): number | undefined {
  const number = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number > 0 ? number : undefined;
}
