/** The topology formats, read by other people's programs: networkx, Graphviz, yanglint, expat, the NetJSON schema. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import { renderDot } from "../../src/formats/dot.ts";
import { attachments, cablesOf, type TopologyGraph } from "../../src/formats/graph.ts";
import { renderGraphml } from "../../src/formats/graphml.ts";
import { renderNetJson } from "../../src/formats/netjson.ts";
import { renderRfc8345 } from "../../src/formats/rfc8345.ts";
import { renderSvg } from "../../src/formats/svg.ts";
import { xmlCharacters } from "../../src/formats/xml.ts";
import { demoGraph } from "../support/demo-graph.ts";
import { needs } from "../support/needs.ts";
import { graph, hostileGraph, degradedCampus } from "../support/sample-network.ts";
import { ask, askPython, pythonWith, text } from "./external-tools.ts";

const SHARED = join(import.meta.dir, "../../../shared");
const YANG = join(SHARED, "yang");
const NETJSON_SCHEMA = join(SHARED, "schemas/netjson-network-graph.json");

const NETWORKS: [string, TopologyGraph][] = [
  ["demo", demoGraph()],
  ["campus", degradedCampus()],
  ["hostile", hostileGraph()],
  ["empty", graph([], [])],
];

describe("GraphML in networkx", () => {
  const python = pythonWith("networkx");
  const READ = `
import io, json, sys, networkx
graph = networkx.read_graphml(io.BytesIO(sys.stdin.buffer.read()), force_multigraph=True)
print(json.dumps({"directed": graph.is_directed(), "graph": graph.graph,
  "nodes": dict(graph.nodes(data=True)), "edges": [[a, b, key, data] for a, b, key, data in graph.edges(keys=True, data=True)]}))`;

  interface Read {
    directed: boolean;
    graph: Record<string, unknown>;
    nodes: Record<string, Record<string, unknown>>;
    edges: [string, string, string, Record<string, unknown>][];
  }

  test.skipIf(python === undefined).each(NETWORKS)("%s: all nodes, edges and attributes", (_, of) => {
    const read = askPython<Read>(python ?? "", READ, text(renderGraphml(of)));
    expect(read.directed).toBe(true);
    expect(read.graph).toMatchObject({ revision: 42, time: of.topology.time });
    expect(Object.keys(read.nodes)).toHaveLength(of.devices.length + of.hosts.length);
    expect(read.edges).toHaveLength(of.links.length + attachments(of).length);
    for (const device of of.devices) {
      const node = read.nodes[xmlCharacters(device.id)];
      // Two ids that differ only in what XML forbids share a name here; the second has a number.
      if (device.id !== xmlCharacters(device.id)) continue;
      expect(node).toMatchObject({ kind: "device", available: device.available, revision: device.revision });
      expect(node?.mfr ?? "").toBe(xmlCharacters(device.mfr));
      for (const [key, value] of Object.entries(device.annotations)) {
        const found = node?.[xmlCharacters(`annotations.${key}`)] ?? "";
        expect(found).toBe(xmlCharacters(value));
      }
    }
    const ids = new Set(read.edges.map(([, , key]) => key));
    for (const { id, src } of of.links) {
      if (src.device === xmlCharacters(src.device) && id === xmlCharacters(id))
        expect(ids.has(id)).toBe(true);
    }
  });
});

describe("DOT in Graphviz", () => {
  const python = pythonWith("xml.parsers.expat");
  const canDraw = needs("dot") && python !== undefined;

  test.skipIf(!canDraw).each(NETWORKS)("%s: drawn, with all its nodes and lines", (_, of) => {
    const drawn = ask(["dot", "-Tsvg"], text(renderDot(of)));
    expect(drawn.errors).toBe("");
    expect(drawn.ok).toBe(true);
    const count = (kind: string) => drawn.out.match(new RegExp(`class="${kind}"`, "g"))?.length ?? 0;
    expect(count("node")).toBe(of.devices.length);
    expect(count("edge")).toBe(cablesOf(of).length);
    expect(wellFormed(python ?? "", drawn.out)).toBe("svg");
  });

  test.skipIf(!canDraw)("labels show what the device is called, not what Graphviz would make of it", () => {
    const { out } = ask(["dot", "-Tsvg"], text(renderDot(hostileGraph())));
    expect(out).toContain("&quot;quoted&quot; &#39;single&#39; back\\sl");
    expect(out).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp;");
  });
});

describe("RFC 8345 in yanglint", () => {
  const canValidate = existsSync(YANG) && needs("yanglint");
  const modules = canValidate
    ? ["ietf-network@", "ietf-network-topology@"].flatMap((name) =>
        readdirSync(YANG)
          .filter((file) => file.startsWith(name))
          .map((file) => join(YANG, file)),
      )
    : [];
  test.skipIf(!canValidate).each(NETWORKS)("%s: valid by the two modules", async (_, of) => {
    // It tells JSON from XML by the ending of the name, so it needs a file.
    const file = join(tmpdir(), `gazetteer-${crypto.randomUUID()}.json`);
    try {
      await Bun.write(file, text(renderRfc8345(of)));
      const { ok, errors } = ask(["yanglint", "-p", YANG, "-t", "config", ...modules, file], "");
      expect(errors).toBe("");
      expect(ok).toBe(true);
    } finally {
      await Bun.file(file).delete();
    }
  });
});

describe("NetJSON by its schema", () => {
  test.skipIf(!existsSync(NETJSON_SCHEMA)).each(NETWORKS)("%s", (_, of) => {
    const schema = JSON.parse(readFileSync(NETJSON_SCHEMA, "utf8"));
    const check = Compile(schema);
    expect([...check.Errors(JSON.parse(text(renderNetJson(of))))]).toEqual([]);
    expect(check.Check({ type: "NetworkGraph" })).toBe(false);
  });
});

describe("XML in expat", () => {
  const python = pythonWith("xml.parsers.expat");
  test.skipIf(python === undefined).each(NETWORKS)("%s: SVG and GraphML are well-formed", (_, of) => {
    expect(wellFormed(python ?? "", text(renderSvg(of)))).toBe("svg");
    expect(wellFormed(python ?? "", text(renderGraphml(of)))).toBe("graphml");
  });
});

/** The root element's name; throws where expat finds a fault. */
function wellFormed(python: string, xml: string): string {
  const script = `
import json, sys, xml.etree.ElementTree as tree
print(json.dumps(tree.fromstring(sys.stdin.buffer.read()).tag.split("}")[-1]))`;
  return askPython(python, script, xml);
}
