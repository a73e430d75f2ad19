/** `gazetteer import`: files that cannot be imported, and where the result is written. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importCommand } from "../../src/cli/import.ts";
import { IMPORT_FORMATS } from "../../src/import/import-file.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";

const folder = temporaryFolder();

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const GRAPHML = `<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
  <node id="0"/><node id="1"/><node id="Porto &amp; Faro"/><node/>
  <edge source="0" target="1"/><edge source="1" target="1"/><edge source="1" target="9"/>
</graph></graphml>
`;

describe("faulty files", () => {
  const laughs = `<?xml version="1.0"?>
<!DOCTYPE graphml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
<graphml><graph><node id="&b;&c;"/></graph></graphml>`;
  const cases: [name: string, text: string, message: string][] = [
    ["laughs.graphml", laughs, ":2: is not GraphML: has a DOCTYPE: documents with a DTD are refused; remove the declaration"],
    ["entity.graphml", "<graphml><graph>\n<node id='&x;'/></graph></graphml>", ":2: is not GraphML: undefined entity"],
    ["cut.graphml", "<graphml>\n<graph>\n<node id='1'>", ":3: is not GraphML: unclosed tag: node"],
    ["root.xml", "<svg/>", ":1: is not GraphML: the root element is svg"],
    ["text.graphml", "<", ":1: is not GraphML"],
    ["broken.json", '{"type": "NetworkGraph",\n"nodes": [}', ":2: is not JSON"],
    ["device.json", '{"type": "DeviceConfiguration"}', ": is in none of the formats that can be imported: netjson, graphml, rfc8345, containerlab; give --format if it is one"],
    ["nodes.json", '{"type": "NetworkGraph",\n"links": []}', ":1: nodes: must be a list"],
    ["empty.json", "", ": is empty"],
    ["list.json", "[1]", ": is in none of the formats"],
    ["lab.yml", "name: x\ntopology:\n  nodes: [a]\n", ":3: topology.nodes: must be a map of nodes"],
    ["network.yaml", "devices:\n - id: x\n", ": is a network file already: use it as it is, with the source `file`"],
  ]; // biome-ignore format: a table
  test.each(cases)("%s", async (name, text, message) => {
    const { status, stdout, stderr } = await runCommand(["import", file(name, text)]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toStartWith(`gazetteer import: ${join(folder, name)}${message}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a file that does not exist, a folder, bytes that are no text, two files", async () => {
    mkdirSync(join(folder, "folder"));
    writeFileSync(join(folder, "bytes.json"), Buffer.from([0xff, 0xfe, 0x00]));
    const stderrOf = async (...args: string[]) => (await runCommand(["import", ...args])).stderr;
    expect(await stderrOf(join(folder, "none"))).toEndWith("none: does not exist\n");
    expect(await stderrOf(join(folder, "folder"))).toEndWith("folder: is not a regular file\n");
    expect(await stderrOf(join(folder, "bytes.json"))).toEndWith("bytes.json: is not UTF-8 text\n");
    expect(await stderrOf("a", "b")).toBe("gazetteer import: wants one FILE\n");
    expect(await stderrOf("a", "--format", "csv")).toContain("--format");
  });

  test("with --format, a file of another one is refused", async () => {
    const graph = await runCommand(["import", file("z.graphml", GRAPHML), "--format", "netjson"]);
    expect(graph).toMatchObject({ status: 2, stdout: "" });
    expect(graph.stderr).toEndWith("z.graphml: is XML, and netjson is not\n");
    const lab = await runCommand([
      "import",
      file("l.yml", "topology:\n  nodes: {}\n"),
      "--format",
      "netjson",
    ]);
    expect(lab.stderr).toEndWith("l.yml:1: has no type: only a NetworkGraph can be imported\n");
  });

  test("depth, aliases and long texts do not matter", async () => {
    const deep = 50_000;
    const nested = `<graphml>${"<graph><node id='a'>".repeat(deep)}${"</node></graph>".repeat(deep)}</graphml>`;
    const xml = await runCommand(["import", file("deep.graphml", nested)]);
    expect(xml.stderr).toEndWith(`deep.graphml (graphml): 1 devices, 0 ports, 0 links, 0 hosts\n`);
    expect(xml.stderr).toContain(`and ${deep - 1 - 50} more of these`);
    const bomb = ["a0: &a0 [x, x]"];
    for (let i = 1; i < 30; i++) bomb.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`);
    const lab = `${bomb.join("\n")}\nname: *a29\ntopology:\n  nodes:\n    n: {kind: *a29, image: *a29, labels: {x: *a29}}\n`;
    const yaml = await runCommand(["import", file("bomb.yml", lab)]);
    expect(yaml.stderr).toEndWith("bomb.yml: is not YAML: Excessive aliasing\n");
    const long = {
      type: "NetworkGraph",
      nodes: [{ id: "a", properties: { big: "x".repeat(20_000) } }],
      links: [],
    };
    const json = await runCommand(["import", file("long.json", JSON.stringify(long))]);
    expect(json.status).toBe(0);
    expect(json.stderr).toContain('left out the property "big": its text has more than 16384 characters');
  });

  test("text of the file cannot change the terminal", async () => {
    const graph = { type: "NetworkGraph", nodes: [], links: [{ source: "\u001b[2J\n", target: "x" }] };
    const { stderr } = await runCommand(["import", file("terminal.json", JSON.stringify(graph))]);
    expect(stderr).not.toContain("\u001b");
    expect(stderr.trimEnd().split("\n")).toHaveLength(2);
  });
});

describe("output", () => {
  test("--output writes YAML or JSON, and nothing to standard output", async () => {
    const graph = file("out.graphml", GRAPHML);
    const [yaml, json] = [join(folder, "out.yaml"), join(folder, "out.json")];
    for (const output of [yaml, json]) {
      const { status, stdout, stderr } = await runCommand(["import", graph, "--output", output]);
      expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
      expect(stderr).toContain(`${output} (graphml): 3 devices`);
      expect((await runCommand(["check", "--file", output])).status).toBe(0);
    }
    expect(Bun.YAML.parse(readFileSync(yaml, "utf8"))).toEqual(JSON.parse(readFileSync(json, "utf8")));
  });

  test("a network of many chunks is written whole: the same bytes as on standard output", async () => {
    const nodes = Array.from({ length: 3000 }, (_, i) => ({ id: `n${i}`, label: `Übergang ${i}` }));
    const links = nodes.slice(1).map(({ id }) => ({ source: "n0", target: id, cost: 1 }));
    const graph = file("many.json", JSON.stringify({ type: "NetworkGraph", nodes, links }));
    const { stdout } = await runCommand(["import", graph]);
    const output = file("many.yaml", "of an earlier import\n".repeat(100_000));
    expect((await runCommand(["import", graph, "--output", output])).status).toBe(0);
    const written = readFileSync(output, "utf8");
    expect(written.length).toBe(stdout.length);
    expect(written === stdout).toBe(true);
  });

  test("a fault writes nothing, and the imported file is not overwritten", async () => {
    const output = join(folder, "never.yaml");
    await runCommand(["import", file("bad.json", "{"), "--output", output]);
    expect(existsSync(output)).toBe(false);
    const graph = file("same.graphml", GRAPHML);
    const { status, stderr } = await runCommand(["import", graph, "--output", graph]);
    expect(status).toBe(2);
    expect(stderr).toContain("is the file to import");
    expect(readFileSync(graph, "utf8")).toBe(GRAPHML);
    const nowhere = await runCommand(["import", graph, "--output", join(folder, "no", "where.yaml")]);
    expect(nowhere.status).toBe(2);
    expect(nowhere.stderr).toContain("cannot be written");
  });

  test("an empty graph is an empty network", async () => {
    const empty = file("empty-graph.json", '{"type":"NetworkGraph","nodes":[],"links":[]}');
    const { stdout } = await runCommand(["import", empty]);
    expect(stdout).toBe("devices: []\n");
    expect((await runCommand(["check", "--file", file("empty.yaml", stdout)])).status).toBe(0);
  });

  test("the help names every format", () => {
    const flag = importCommand.flags.find(({ name }) => name === "format");
    expect(flag?.choices).toEqual([...IMPORT_FORMATS]);
  });
});
