import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { linkId } from "../model/ids.ts";
import { readRecords } from "../sources/file/records.ts";
import { type ImportFormat, type ImportResult, importText, type NetworkDocument } from "./import-file.ts";

// Few ids, so that edges meet; some are no valid ids, differ in case only, or are names of prototypes.
const id = fc.constantFrom(
  "a",
  "b",
  "A",
  "a b",
  "",
  "of:0000000000000001",
  "OF:0000000000000001",
  "__proto__",
  "\ud800",
  "x".repeat(300),
  "host",
);
const port = fc.constantFrom(
  "1",
  "01",
  "eth1",
  "to-b",
  "local",
  "LOCAL",
  "[eth1](7)",
  "",
  "Aa",
  "BB",
  "99999999999",
);
const value = fc.oneof(
  fc.constantFrom("SWITCH", "x", "", "a\u0000b", "\ud800", "x".repeat(20_000)),
  fc.boolean(),
  fc.double(),
  fc.constant(null),
  fc.constant([{ a: 1 }]),
);
const name = fc.constantFrom(
  "type",
  "available",
  "mfr",
  "label",
  "name",
  "lat",
  "kind",
  "mac",
  "ipAddresses",
  "annotations",
  "aliases",
  "__proto__",
  "y".repeat(300),
  "state",
  "",
  "revision",
);
const properties = fc.dictionary(name, value, { maxKeys: 4 });

const node = fc.record({ id: fc.oneof({ weight: 9, arbitrary: id }, fc.constant(undefined)), properties });
const edge = fc.record({
  source: id,
  target: id,
  sourcePort: fc.option(port),
  targetPort: fc.option(port),
  directed: fc.boolean(),
  properties,
});
const graph = fc.record({
  nodes: fc.array(node, { maxLength: 6 }),
  edges: fc.array(edge, { maxLength: 8 }),
  own: fc.boolean(),
});
type Graph = typeof graph extends fc.Arbitrary<infer G> ? G : never;

const escapeXml = (text: unknown): string =>
  String(text)
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;");
const xmlData = (facts: Record<string, unknown>): string =>
  Object.entries(facts)
    .map(([key, text]) => `<data key="${escapeXml(key)}">${escapeXml(text)}</data>`)
    .join("");
const attribute = (key: string, text: unknown): string =>
  text === undefined || text === null ? "" : ` ${key}="${escapeXml(text)}"`;

/** The same graph in each format. */
const TEXTS: Readonly<Record<ImportFormat, (graph: Graph) => string>> = {
  netjson: ({ nodes, edges, own }) =>
    JSON.stringify({
      type: "NetworkGraph",
      protocol: own ? "gazetteer" : "olsr",
      nodes,
      links: edges.map(({ source, target, sourcePort, targetPort, directed, properties: facts }) => ({
        source,
        target,
        cost: 1,
        properties: { ...facts, source_port: sourcePort, target_port: targetPort, bidirectional: !directed },
      })),
    }),
  graphml: ({ nodes, edges, own }) =>
    `<graphml><graph${own ? ' id="gazetteer"' : ""} edgedefault="undirected">${nodes
      .map((given) => `<node${attribute("id", given.id)}>${xmlData(given.properties)}</node>`)
      .join("\n")}${edges
      .map(
        ({ source, target, sourcePort, targetPort, directed, properties: facts }) =>
          `<edge${attribute("source", source)}${attribute("target", target)}${attribute("sourceport", sourcePort)}${attribute("targetport", targetPort)} directed="${directed}">${xmlData(facts)}</edge>`,
      )
      .join("\n")}</graph></graphml>`,
  containerlab: ({ nodes, edges }) =>
    JSON.stringify({
      name: "lab",
      topology: {
        nodes: Object.fromEntries(nodes.map((given) => [String(given.id), { labels: given.properties }])),
        links: edges.map(({ source, target, sourcePort, targetPort }) => ({
          endpoints: [`${source}:${sourcePort}`, `${target}:${targetPort}`],
        })),
      },
    }),
  rfc8345: ({ nodes, edges, own }) =>
    JSON.stringify({
      "ietf-network:networks": {
        network: [
          {
            "network-id": own ? "gazetteer:network" : "n",
            node: nodes.map((given) => ({ "node-id": given.id })),
            "ietf-network-topology:link": edges.map((given, index) => ({
              "link-id": String(index),
              source: { "source-node": given.source, "source-tp": given.sourcePort },
              destination: { "dest-node": given.target, "dest-tp": given.targetPort },
            })),
          },
        ],
      },
    }),
};

function success(result: ImportResult): Extract<ImportResult, { ok: true }> {
  if (!result.ok) throw new Error(result.message);
  return result;
}

describe("any graph", () => {
  test.each(["netjson", "graphml", "rfc8345", "containerlab"] as const)(
    "as %s becomes a document that the file source accepts; nothing is lost without a note",
    (format) => {
      fc.assert(
        fc.property(graph, (given) => {
          const { document, counts, notes } = success(importText("f.json", TEXTS[format](given)));
          const records = readRecords(JSON.parse(JSON.stringify(document)));
          expect(records).toMatchObject({ ok: true });
          if (!records.ok) return;
          for (const kind of ["devices", "ports", "links", "hosts"] as const)
            expect([...(records.claims[kind] ?? [])]).toHaveLength(counts[kind]);
          const known = new Set(given.nodes.map((one) => one.id));
          const isComplete =
            (known.size === given.nodes.length || format === "rfc8345") &&
            !known.has(undefined) &&
            given.edges.every(({ source, target }) => known.has(source) && known.has(target));
          if (!isComplete && format !== "containerlab" && given.nodes.length > 0)
            expect(notes).not.toEqual([]);
        }),
      );
    },
  );

  test("in any order of nodes and edges gives the same devices and numbers of ports", () => {
    const simple = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 2 });
    const pairs = fc.uniqueArray(fc.tuple(fc.nat(3), fc.nat(3)), {
      maxLength: 6,
      selector: ([from, to]) => `${Math.min(from, to)} ${Math.max(from, to)}`,
    });
    const linksOf = (document: NetworkDocument) =>
      document.links.map(({ src, dst }) =>
        [linkId({ ...src, port: String(src.port) }, { ...dst, port: String(dst.port) }), ""].join(),
      );
    fc.assert(
      fc.property(simple, pairs, (nodes, edges) => {
        const text = (names: readonly string[], ends: readonly (readonly [number, number])[]) =>
          TEXTS.graphml({
            nodes: names.map((one) => ({ id: one, properties: {} })),
            edges: ends.map(([from, to]) => ({
              source: nodes[from] ?? "none",
              target: nodes[to] ?? "none",
              sourcePort: null,
              targetPort: null,
              directed: false,
              properties: {},
            })),
            own: false,
          });
        const forward = success(importText("f", text(nodes, edges)));
        const backward = success(importText("f", text(nodes.toReversed(), edges.toReversed())));
        expect(linksOf(backward.document).sort()).toEqual(linksOf(forward.document).sort());
        expect(backward.counts).toEqual(forward.counts);
      }),
    );
  });
});

test("no text makes the import throw", () => {
  const broken = fc
    .tuple(graph, fc.constantFrom("netjson", "graphml", "rfc8345", "containerlab"), fc.nat(), fc.string())
    .map(([given, format, at, inserted]) => {
      const text = TEXTS[format](given);
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + inserted + text.slice(cut + inserted.length);
    });
  fc.assert(
    fc.property(fc.oneof(broken, fc.json(), fc.string()), (text) => {
      for (const format of [undefined, "netjson", "graphml", "rfc8345", "containerlab"] as const) {
        const result = importText("name", text, format);
        if (!result.ok) expect(result.message).toMatch(/^name(:\d+)?: \S/);
      }
    }),
  );
});
