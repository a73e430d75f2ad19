/** The topology formats, parsed by other programs: networkx, Graphviz, yanglint, expat, the NetJSON schema. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import { renderDot } from "../../src/formats/dot.ts";
import { renderGraphml } from "../../src/formats/graphml.ts";
import { renderNetJson } from "../../src/formats/netjson.ts";
import { renderRfc8345 } from "../../src/formats/rfc8345.ts";
import { renderSvg } from "../../src/formats/svg.ts";
import { xmlCharacters } from "../../src/formats/xml.ts";
import { demoGraph } from "../support/demo-graph.ts";
import { needs } from "../support/needs.ts";
import {
  degradedCampus,
  graph,
  hostileGraph,
  type ListedGraph,
  listAttachments,
  listCables,
} from "../support/sample-network.ts";
import { describeWithShared } from "../support/shared.ts";
import { joinChunks, pythonWith, runPython, runTool } from "./external-tools.ts";

const NETWORKS: [string, ListedGraph][] = [
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

  interface ParsedGraph {
    directed: boolean;
    graph: Record<string, unknown>;
    nodes: Record<string, Record<string, unknown>>;
    edges: [string, string, string, Record<string, unknown>][];
  }

  test.skipIf(python === undefined).each(NETWORKS)(
    "%s: has all nodes, edges and attributes",
    (_, network) => {
      const parsed = runPython<ParsedGraph>(python ?? "", READ, joinChunks(renderGraphml(network)));
      expect(parsed.directed).toBe(true);
      expect(parsed.graph).toMatchObject({ revision: 42, time: network.topology.time });
      expect(Object.keys(parsed.nodes)).toHaveLength(network.devices.length + network.hosts.length);
      expect(parsed.edges).toHaveLength(network.links.length + listAttachments(network).length);
      for (const device of network.devices) {
        const node = parsed.nodes[xmlCharacters(device.id)];
        // Two ids that differ only in characters that XML forbids get a number, so they are not compared.
        if (device.id !== xmlCharacters(device.id)) continue;
        expect(node).toMatchObject({
          kind: "device",
          available: device.available,
          revision: device.revision,
        });
        expect(node?.mfr ?? "").toBe(xmlCharacters(device.mfr));
        for (const [key, value] of Object.entries(device.annotations)) {
          const found = node?.[xmlCharacters(`annotations.${key}`)] ?? "";
          expect(found).toBe(xmlCharacters(value));
        }
      }
      const ids = new Set(parsed.edges.map(([, , key]) => key));
      for (const { id, src } of network.links) {
        if (src.device === xmlCharacters(src.device) && id === xmlCharacters(id))
          expect(ids.has(id)).toBe(true);
      }
    },
  );
});

describe("DOT in Graphviz", () => {
  const python = pythonWith("xml.parsers.expat");
  const canDraw = needs("dot") && python !== undefined;

  test.skipIf(!canDraw).each(NETWORKS)("%s: the drawing has all nodes and edges", (_, network) => {
    const result = runTool(["dot", "-Tsvg"], joinChunks(renderDot(network)));
    expect(result.stderr).toBe("");
    expect(result.ok).toBe(true);
    const count = (kind: string) => result.stdout.match(new RegExp(`class="${kind}"`, "g"))?.length ?? 0;
    expect(count("node")).toBe(network.devices.length);
    expect(count("edge")).toBe(listCables(network).length);
    expect(rootElement(python ?? "", result.stdout)).toBe("svg");
  });

  test.skipIf(!canDraw)("labels show the name of the device without interpreting escapes", () => {
    const { stdout } = runTool(["dot", "-Tsvg"], joinChunks(renderDot(hostileGraph())));
    expect(stdout).toContain("&quot;quoted&quot; &#39;single&#39; back\\sl");
    expect(stdout).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp;");
  });
});

describeWithShared("RFC 8345 in yanglint", "yang", (yang) => {
  const canValidate = needs("yanglint");
  const modules = readdirSync(yang)
    .filter((file) => /^ietf-network(-topology)?@/.test(file))
    .map((file) => join(yang, file));
  test.skipIf(!canValidate).each(NETWORKS)("%s: is valid for the two modules", async (_, network) => {
    // yanglint recognises JSON by the extension of a file.
    const file = join(tmpdir(), `gazetteer-${crypto.randomUUID()}.json`);
    try {
      await Bun.write(file, joinChunks(renderRfc8345(network)));
      const { ok, stderr } = runTool(["yanglint", "-p", yang, "-t", "config", ...modules, file], "");
      expect(stderr).toBe("");
      expect(ok).toBe(true);
    } finally {
      await Bun.file(file).delete();
    }
  });
});

describeWithShared("NetJSON and its schema", "schemas/netjson-network-graph.json", (schemaFile) => {
  test.each(NETWORKS)("%s", (_, network) => {
    const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
    const check = Compile(schema);
    expect([...check.Errors(JSON.parse(joinChunks(renderNetJson(network))))]).toEqual([]);
    expect(check.Check({ type: "NetworkGraph" })).toBe(false);
  });
});

describe("XML in expat", () => {
  const python = pythonWith("xml.parsers.expat");
  test.skipIf(python === undefined).each(NETWORKS)("%s: SVG and GraphML are well-formed", (_, network) => {
    expect(rootElement(python ?? "", joinChunks(renderSvg(network)))).toBe("svg");
    expect(rootElement(python ?? "", joinChunks(renderGraphml(network)))).toBe("graphml");
  });
});

/** The name of the root element. Throws when the document is not well-formed. */
function rootElement(python: string, xml: string): string {
  const script = `
import json, sys, xml.etree.ElementTree as tree
print(json.dumps(tree.fromstring(sys.stdin.buffer.read()).tag.split("}")[-1]))`;
  return runPython(python, script, xml);
}
