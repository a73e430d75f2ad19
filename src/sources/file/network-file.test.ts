import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { KINDS } from "../../model/ids.ts";
import { MAX_FILE_BYTES, readNetwork } from "./network-file.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gazetteer-file-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(file: string, text: string | Uint8Array) {
  const path = join(folder, file);
  await Bun.write(path, text);
  return readNetwork(path);
}

async function readClaims(file: string, text: string) {
  const result = await read(file, text);
  if (!result.ok) throw new Error(result.message);
  return Object.fromEntries(KINDS.map((kind) => [kind, [...(result.claims[kind] ?? [])]]));
}

describe("a valid file", () => {
  const noClaims = { devices: [], ports: [], links: [], hosts: [] };
  const a = { device: "of:1", port: "1" };
  const b = { device: "of:2", port: "2" };
  const host = { mac: "00:00:00:00:00:01", vlan: "None", locations: [{ elementId: "of:1", port: "3" }] };
  const cases: { name: string; file: string; text: string; claims: object }[] = [
    { name: "an empty object", file: "a.json", text: "{}", claims: {} },
    { name: "only what identifies a device", file: "a.json", text: '{"devices":[{"id":"of:1"}]}', claims: { devices: [{ id: "of:1" }] } },
    { name: "a device in YAML", file: "a.yaml", text: "devices:\n  - id: of:1\n", claims: { devices: [{ id: "of:1" }] } },
    { name: "an empty section", file: "a.yml", text: "devices:\n  - id: x\nhosts:\n", claims: { devices: [{ id: "x" }] } },
    { name: "JSON by its first character", file: "network", text: ' {"devices":[{"id":"x"}]}', claims: { devices: [{ id: "x" }] } },
    { name: "YAML by its first character", file: "network", text: "devices: [{id: x}]", claims: { devices: [{ id: "x" }] } },
    { name: "a byte-order mark", file: "a.json", text: '\ufeff{"devices":[{"id":"x"}]}', claims: { devices: [{ id: "x" }] } },
    {
      name: "ports as numbers and as strings",
      file: "a.yaml",
      text: "links:\n - {src: {device: 'of:1', port: 1}, dst: {device: 'of:2', port: '2'}, state: INACTIVE}",
      claims: { links: [{ src: a, dst: b, state: "INACTIVE" }] },
    },
    {
      name: "named and logical ports, any VLAN and auxiliary locations as ONOS prints them",
      file: "a.json",
      text: JSON.stringify({
        ports: [
          { element: "OF:1A", port: "[eth9](9)", isEnabled: true, type: "oduclt" },
          { element: "of:1a", port: "LOCAL", type: "otu" },
          { element: "of:1a", port: "CONTROLLER" },
        ],
        hosts: [{ ...host, vlan: "Any", locations: [{ elementId: "of:1", port: "[eth9](9)" }], auxLocations: [{ elementId: "of:2", port: "2" }] }],
      }),
      claims: {
        ports: [
          { element: "of:1a", port: "9", isEnabled: true, type: "oduclt", annotations: { portName: "eth9" } },
          { element: "of:1a", port: "local", type: "otu" },
          { element: "of:1a", port: "controller" },
        ],
        hosts: [{ ...host, vlan: "Any", locations: [{ elementId: "of:1", port: "9" }], auxLocations: [{ elementId: "of:2", port: "2" }] }],
      },
    },
    {
      name: "one record for both directions",
      file: "a.yaml",
      text: "links:\n - {src: {device: 'of:1', port: 1}, dst: {device: 'of:2', port: 2}, bidirectional: true, type: OPTICAL}",
      claims: { links: [{ src: a, dst: b, type: "OPTICAL" }, { src: b, dst: a, type: "OPTICAL" }] },
    },
    {
      name: "both directions as in a response of the API",
      file: "a.json",
      text: JSON.stringify({
        links: [
          { src: a, dst: b, state: "ACTIVE", bidirectional: true, id: "x" },
          { src: b, dst: a, state: "INACTIVE", bidirectional: true, id: "y" },
        ],
      }),
      claims: { links: [{ src: a, dst: b, state: "ACTIVE" }, { src: b, dst: a, state: "INACTIVE" }] },
    },
    {
      name: "a host with one location",
      file: "a.yaml",
      text: "hosts:\n - mac: 00-00-00-00-00-01\n   location: {elementId: 'of:1', port: 3}",
      claims: { hosts: [host] },
    },
    {
      name: "locations, which take precedence over location",
      file: "a.json",
      text: JSON.stringify({ hosts: [{ ...host, location: { elementId: "of:9", port: "9" } }] }),
      claims: { hosts: [host] },
    },
    {
      name: "ports inside a device",
      file: "a.yaml",
      text: "devices:\n - id: x\n   ports:\n    - {port: 1, portSpeed: 1000}\n    - {element: x, port: local}",
      claims: { devices: [{ id: "x" }], ports: [{ element: "x", port: "1", portSpeed: 1000 }, { element: "x", port: "local" }] },
    },
    {
      name: "the response of /devices/{id}/ports",
      file: "a.json",
      text: '{"id":"x","type":"ROUTER","revision":4,"ports":[{"element":"x","port":"1","sources":["demo"]}]}',
      claims: { devices: [{ id: "x", type: "ROUTER" }], ports: [{ element: "x", port: "1" }] },
    },
    {
      name: "fields that the service adds",
      file: "a.json",
      text: JSON.stringify({
        devices: [{ id: "x", available: false, lastUpdate: "17", humanReadableLastUpdate: "disconnected since …", firstSeen: "", lastChanged: "", sources: ["demo"], revision: 3 }],
        hosts: [{ ...host, id: "00:00:00:00:00:01/None", location: host.locations[0], revision: 1, firstSeen: "" }],
      }),
      claims: { devices: [{ id: "x", available: false, lastUpdate: "17" }], hosts: [host] },
    },
    {
      name: "a YAML alias",
      file: "a.yaml",
      text: "devices:\n - {id: x, annotations: &a {site: fra1}}\n - {id: y, annotations: *a}",
      claims: { devices: [{ id: "x", annotations: { site: "fra1" } }, { id: "y", annotations: { site: "fra1" } }] },
    },
  ]; // biome-ignore format: one case a row
  for (const { name, file, text, claims } of cases) {
    test(name, async () => expect(await readClaims(file, text)).toEqual({ ...noClaims, ...claims }));
  }
});

describe("an invalid file", () => {
  const yaml = (text: string) => ["bad.yaml", text] as const;
  const json = (text: string) => ["bad.json", text] as const;
  const link = "src: {device: a, port: 1}, dst: {device: b, port: 2}";
  const cases: [name: string, file: readonly [string, string | Uint8Array], message: string | RegExp][] = [
    ["empty", json(""), "bad.json: is empty"],
    ["only white space", yaml("\n\n"), "bad.yaml: is empty"],
    ["invalid UTF-8", ["bad.json", new Uint8Array([0x7b, 0xff, 0x7d])], "bad.json: is not UTF-8 text"],
    ["truncated JSON", json('{"devices": [\n{"id": "x"},\n'), "bad.json:2: is not JSON: ends too early"],
    ["a trailing comma", json('{"devices": [\n{"id": "x"},\n]}'), "bad.json:3: is not JSON: expected a value, not ]"],
    ["broken YAML", yaml("devices:\n - id: x\n   mfr: [\n"), /^bad\.yaml:[34]: is not YAML: /],
    ["a tab in YAML", yaml("devices:\n\t- id: x"), /^bad\.yaml:2: is not YAML: /],
    ["an unresolved alias", yaml("devices: *x"), "bad.yaml: is not YAML: Unresolved alias"],
    ["a section twice", yaml("devices: []\nhosts: []\ndevices: []"), "bad.yaml:3: devices: is given twice"],
    ["a list", json("[]"), "bad.json:1: must be an object with devices, ports, links, hosts"],
    ["two YAML documents", yaml("a: 1\n---\nb: 2"), "bad.yaml:1: must be an object with devices, ports, links, hosts"],
    ["an unknown section", yaml("devices: []\nhost: []"), "bad.yaml:2: host: is not known here; did you mean hosts?"],
    ["the topology", json('{"topology": 1}'), "bad.json:1: topology: is not known here; known here: devices, ports, links, hosts"],
    ["a section that is not a list", json('{\n"devices": {}}'), "bad.json:2: devices: must be a list"],
    ["a record that is not an object", yaml("devices:\n - x\n"), "bad.yaml:2: devices[0]: must be an object"],
    ["a device without an id", yaml("devices:\n - id: x\n - mfr: y\n"), "bad.yaml:3: devices[1].id: is required"],
    ["an id with a space", yaml("devices:\n - id: x y\n"), "bad.yaml:2: devices[0].id: must be a name of 1 to 255 characters without spaces, control characters and marks of the text direction"],
    ["a misspelt field", yaml("devices:\n - id: x\n   serail: z\n"), "bad.yaml:3: devices[0].serail: is not a field of this record; did you mean serial?"],
    ["the field __proto__ in JSON", json('{"devices":[{"id":"x",\n"__proto__":{"id":"y"}}]}'), /^bad\.json:2: devices\[0\]\.__proto__: is not a field of this record/],
    ["the field __proto__ in YAML", yaml("devices:\n - id: x\n   __proto__: {id: y}\n"), /^bad\.yaml:3: devices\[0\]\.__proto__: is not a field of this record/],
    ["a misspelt ports field", yaml("devices:\n - id: x\n   prots: []\n"), "bad.yaml:3: devices[0].prots: is not a field of this record; did you mean ports?"],
    ["an unknown field", yaml("links:\n - {colour: red}\n"), "bad.yaml:2: links[0].colour: is not a field of this record; known here: src, dst, type, state, annotations, id, bidirectional, verified"],
    ["an unknown type", yaml("devices:\n - id: x\n   type: switch\n"), /^bad\.yaml:3: devices\[0\]\.type: must be equal to one of the allowed values \(SWITCH, ROUTER/],
    ["a number for text", yaml("devices:\n - id: x\n   serial: 12\n"), "bad.yaml:3: devices[0].serial: must be a string: put it in quotes"],
    ["a number for an annotation", yaml("devices:\n - id: x\n   annotations:\n     latitude: 1.5\n"), "bad.yaml:4: devices[0].annotations.latitude: must be a string: put it in quotes"],
    ["text for a boolean", json('{"devices":[{"id":"x",\n"available":"yes"}]}'), "bad.json:2: devices[0].available: must be boolean"],
    ["a bad alias", yaml("devices:\n - id: x\n   aliases: [a,\n    b c]\n"), "bad.yaml:4: devices[0].aliases[1]: must be a name of 1 to 255 characters without spaces, control characters and marks of the text direction"],
    ["a bad time", json('{"devices":[{"id":"x",\n"lastUpdate":5}]}'), "bad.json:2: devices[0].lastUpdate: must be epoch milliseconds as a string of digits"],
    ["a device twice", yaml("devices:\n - id: x\n - id: y\n - id: x\n"), "bad.yaml:4: devices[2]: is a second record of x (the first is in line 2)"],
    ["a port without a device", yaml("ports:\n - port: 1\n"), "bad.yaml:2: ports[0].element: is required"],
    ["a port that is not a number", yaml("ports:\n - element: x\n   port: eth0\n"), "bad.yaml:3: ports[0].port: must be a decimal number, local or controller"],
    ["a port of another device", yaml("devices:\n - id: x\n   ports:\n    - port: 1\n      element: y\n"), "bad.yaml:5: devices[0].ports[0].element: is not the device that the port is listed in"],
    ["a device's ports that are not a list", yaml("devices:\n - id: x\n   ports: 4\n"), "bad.yaml:3: devices[0].ports: must be a list"],
    ["a device's port that is not an object", yaml("devices:\n - id: x\n   ports: [4]\n"), "bad.yaml:3: devices[0].ports[0]: must be an object"],
    ["a port inside and outside", yaml("devices:\n - id: x\n   ports:\n    - port: 1\nports:\n - {element: x, port: '1'}\n"), "bad.yaml:6: ports[0]: is a second record of x/1 (the first is in line 4)"],
    ["a link without an end", yaml("links:\n - src: {device: a, port: 1}\n"), "bad.yaml:2: links[0].dst: is required"],
    ["a misspelt field of an endpoint", yaml("links:\n - src: {devcie: a, port: 1}\n   dst: {device: b, port: 2}\n"), "bad.yaml:2: links[0].src.devcie: is not a field of this record; did you mean device?"],
    ["a link to itself", yaml("links:\n - src: {device: a, port: 1}\n   dst: {device: a, port: 01}\n"), "bad.yaml:3: links[0].dst: is the same port as src"],
    ["a link twice", yaml(`links:\n - {${link}}\n - {${link}}\n`), "bad.yaml:3: links[1]: is a second record of a/1-b/2 (the first is in line 2)"],
    ["an unknown state", yaml(`links:\n - {${link}, state: UP}\n`), "bad.yaml:2: links[0].state: must be equal to one of the allowed values (ACTIVE, INACTIVE)"],
    ["bidirectional as text", yaml(`links:\n - {${link}, bidirectional: 'yes'}\n`), "bad.yaml:2: links[0].bidirectional: must be true or false"],
    ["a host without a MAC", yaml("hosts:\n - location: {elementId: x, port: 1}\n"), "bad.yaml:2: hosts[0].mac: is required"],
    ["an invalid MAC", yaml("hosts:\n - mac: hello\n   location: {elementId: x, port: 1}\n"), "bad.yaml:2: hosts[0].mac: is not a MAC address"],
    ["a host without a location", yaml("hosts:\n - mac: 00:00:00:00:00:01\n"), "bad.yaml:2: hosts[0].locations: is required"],
    ["an empty list of locations", yaml("hosts:\n - mac: 00:00:00:00:00:01\n   locations: []\n"), /^bad\.yaml:3: hosts\[0\]\.locations: must not have fewer than 1/],
    ["a bad location", yaml("hosts:\n - mac: 00:00:00:00:00:01\n   location:\n     elementId: x\n     port: eth0\n"), "bad.yaml:5: hosts[0].location.port: must be a decimal number, local or controller"],
    ["a misspelt field of a location", yaml("hosts:\n - mac: 00:00:00:00:00:01\n   locations:\n    - {elementID: x, port: 1}\n"), "bad.yaml:4: hosts[0].locations[0].elementID: is not a field of this record; did you mean elementId?"],
    ["a VLAN out of range", yaml("hosts:\n - mac: 00:00:00:00:00:01\n   vlan: 4095\n   location: {elementId: x, port: 1}\n"), "bad.yaml:3: hosts[0].vlan: must be None, Any or a tag from 1 to 4094"],
    ["an invalid IP address", json('{"hosts":[{"mac":"00:00:00:00:00:01","location":{"elementId":"x","port":"1"},\n"ipAddresses":["10.0.0.1",\n"10.0.0.300"]}]}'), "bad.json:3: hosts[0].ipAddresses[1]: is not an IP address"],
    ["a bad TPID", yaml("hosts:\n - mac: 00:00:00:00:00:01\n   outerTpid: 0x8100\n   location: {elementId: x, port: 1}\n"), "bad.yaml:3: hosts[0].outerTpid: must be 0x and four hex digits, in quotes"],
    ["a host twice in two spellings", yaml("hosts:\n - {mac: 00:00:00:00:00:0a, location: {elementId: x, port: 1}}\n - {mac: 0000.0000.000A, vlan: None, location: {elementId: x, port: 2}}\n"), "bad.yaml:3: hosts[1]: is a second record of 00:00:00:00:00:0A/None (the first is in line 2)"],
    ["very deep nesting", json("[".repeat(200_000)), /^bad\.json:1: is not JSON: is nested too deeply$/],
    ["very deep nesting in YAML", yaml("[".repeat(200_000)), /^bad\.yaml(:1)?: is not YAML: /],
    ["a circle of aliases", yaml("devices: &a [*a]"), /^bad\.yaml:1: devices\[0\]: must be an object$/],
  ]; // biome-ignore format: one rule a row
  for (const [name, [file, content], message] of cases) {
    test(name, async () => {
      const result = await read(file, content);
      if (result.ok) throw new Error("was accepted");
      const [first] = result.faults;
      if (typeof message === "string") expect(first).toBe(message);
      else expect(first).toMatch(message);
    });
  }

  test("a file that does not exist", async () => {
    const result = await readNetwork(join(folder, "no-such-folder", "x.json"));
    expect(result).toMatchObject({ ok: false, message: "x.json: does not exist" });
  });

  test("a folder", async () => {
    expect(await readNetwork(join(folder, "."))).toMatchObject({
      ok: false,
      message: `${basename(folder)}: is not a regular file`,
    });
  });

  test("a file larger than the limit is not read", async () => {
    const path = join(folder, "large.json");
    await Bun.write(path, "");
    await truncate(path, MAX_FILE_BYTES + 1);
    expect(await readNetwork(path)).toMatchObject({
      ok: false,
      message: "large.json: is larger than 256 MiB",
    });
  });
});

describe("all faults of a file are found at once", () => {
  const faults = async (file: string, text: string) => {
    const result = await read(file, text);
    if (result.ok) throw new Error("was accepted");
    return result;
  };

  test("of all sections and of one record", async () => {
    const text = `devices:
 - {id: a, serail: x, type: switch, mfr: 5}
 - mfr: no id
   ports:
    - {port: eth0}
    - {port: 1}
 - id: b
   ports: {}
 - {id: b}
links:
 - {src: {device: a, port: x}, dst: {device: b, port: y}, bidirectional: maybe}
hosts:
 - {mac: hello, vlan: 5000, ipAddresses: [10.0.0.1, x, y], location: {elementId: a, port: z}}
 - nothing
switches: []
`;
    const { message, faults: found } = await faults("bad.yaml", text);
    expect(
      found.map((line) => line.replace(/ \(SWITCH.*|; known here.*/, "").replace("bad.yaml:", "")),
    ).toEqual([
      "15: switches: is not known here",
      "2: devices[0].serail: is not a field of this record; did you mean serial?",
      "2: devices[0].type: must be equal to one of the allowed values",
      "2: devices[0].mfr: must be a string: put it in quotes",
      "3: devices[1].id: is required",
      "5: devices[1].ports[0].port: must be a decimal number, local or controller",
      "8: devices[2].ports: must be a list",
      "9: devices[3]: is a second record of b (the first is in line 7)",
      "11: links[0].bidirectional: must be true or false",
      "11: links[0].src.port: must be a decimal number, local or controller",
      "11: links[0].dst.port: must be a decimal number, local or controller",
      "13: hosts[0].mac: is not a MAC address",
      "13: hosts[0].vlan: must be None, Any or a tag from 1 to 4094",
      "13: hosts[0].ipAddresses[1]: is not an IP address",
      "13: hosts[0].ipAddresses[2]: is not an IP address",
      "13: hosts[0].location.port: must be a decimal number, local or controller",
      "14: hosts[1]: must be an object",
    ]);
    expect(message).toEndWith("(and 16 more faults)");
    // The same in JSON, whose lines are found in another way.
    const json = JSON.stringify(Bun.YAML.parse(text), null, 1);
    const { faults: inJson } = await faults("bad.json", json);
    expect(inJson.map((line) => line.replace(/^[^ ]* /, "").replace(/in line \d+/, ""))).toEqual(
      found.map((line) => line.replace(/^[^ ]* /, "").replace(/in line \d+/, "")),
    );
    expect(inJson[4]).toStartWith(
      `bad.json:${json.split("\n").findIndex((line) => line.includes("no id"))}:`,
    );
  });

  test("one record may have more than a few", async () => {
    const annotations = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, i]));
    const { faults: found } = await faults(
      "bad.json",
      JSON.stringify({ devices: [{ id: "a", annotations }] }),
    );
    expect(found).toHaveLength(40);
  });

  test("the rest of very many is counted", async () => {
    const devices = Array.from({ length: 1500 }, () => ({ mfr: "x" }));
    const { message, faults: found } = await faults("bad.json", JSON.stringify({ devices }));
    expect(found).toHaveLength(1001);
    expect(found.at(-1)).toBe("bad.json: 500 more faults are not listed");
    expect(message).toBe("bad.json:1: devices[0].id: is required (and 1499 more faults)");
  });
});

test("the example in the documentation is valid", async () => {
  const page = await Bun.file(join(import.meta.dir, "../../../docs/sources/file.md")).text();
  const example = /```yaml\n(devices:.*?)```/s.exec(page)?.[1] ?? "";
  const { devices, ports, links, hosts } = await readClaims("example.yaml", example);
  expect([devices, ports, links, hosts].map((list) => list?.length)).toEqual([2, 2, 2, 1]);
});
