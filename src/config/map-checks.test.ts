import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/folder.ts";
import { loadConfig } from "./config.ts";
import { checkMapFiles } from "./cross-checks.ts";
import { renderFault } from "./faults.ts";
import { renderSettings } from "./show.ts";

function load(...lines: string[]) {
  const file = join(temporaryFolder(), "g.yaml");
  writeFileSync(file, `${lines.join("\n")}\n`);
  const loaded = loadConfig({ file });
  const faults = loaded.ok ? [] : loaded.faults.map((fault) => renderFault(fault).replace(file, "g.yaml"));
  return { loaded, faults };
}

const SERVER = ["metrics:", "  - url: http://127.0.0.1:9090", "    queries: [{ name: a, query: up }]"];

test("links, metrics and views that are complete are accepted", () => {
  const { faults, loaded } = load(
    "links:",
    "  - { name: Shell, kind: device, url: 'ssh://{managementAddress}' }",
    "  - { name: Shell, kind: host, url: 'ssh://{ip}' }",
    "metrics:",
    "  - url: https://prometheus.example:9090/prefix",
    "    token: abc",
    "    queries:",
    "      - { name: Load, unit: '%', query: 'rate(x[5m])', device: instance, port: ifName, direction: both, max: 100 }",
    "views:",
    "  - name: Core",
    "    state: ?type=ROUTER&around=of:0001&hops=2&filter=a%20b",
    "    arrangement:",
    "      pins: [{ device: 'of:0001', x: 1.5, y: -3 }]",
    "      groups: [{ name: Sites, annotation: site }, { name: A, devices: ['of:0001'] }]",
    "  - { name: All, state: '' }",
  );
  expect(faults).toEqual([]);
  expect(loaded.ok && loaded.config.views).toHaveLength(2);
});

test("a view with parts that the map no longer draws is accepted without them, and each is named", () => {
  const { faults, loaded } = load(
    "views:",
    "  - { name: All, state: '' }",
    "  - name: Core",
    "    state: ''",
    "    arrangement:",
    "      groups: [{ name: Drawn, x: 0, y: 0, width: 5, height: 5 }, { name: Sites, annotation: site }]",
    "      background: { picture: 'data:image/png;base64,iVBORw0KGgo=', x: 0, y: 0, width: 10, height: 10 }",
  );
  expect(faults).toEqual([]);
  expect(loaded.ok && loaded.config.views[1]?.arrangement).toEqual({
    groups: [{ name: "Sites", annotation: "site" }],
  });
  expect(loaded.warnings.map((warning) => warning.replace(/^.*g\.yaml/, "g.yaml"))).toEqual([
    "g.yaml:6:31: views[1].arrangement.groups[0].x: is gone; remove the box, or give it an annotation or devices instead of a place",
    "g.yaml:7:7: views[1].arrangement.background: is gone; remove it: the map draws no picture and no coastline",
  ]);
});

describe("a fault has its position", () => {
  const cases: [what: string, lines: string[], faults: string[]][] = [
    [
      "a template",
      ["links:", "  - name: x", "    kind: device", "    url: javascript:alert(1)"],
      ["g.yaml:4:10: links[0].url: must begin with http://, https://, ssh://, telnet://, mailto:"],
    ],
    [
      "a kind",
      ["links:", "  - { name: x, kind: devices, url: 'http://a' }"],
      ["g.yaml:2:22: links[0].kind: must be one of device, link, host"],
    ],
    [
      "two links of one kind with one name",
      [
        "links:",
        "  - { name: x, kind: link, url: 'http://a' }",
        "  - { name: x, kind: link, url: 'http://b' }",
      ],
      ["g.yaml:3:13: links[1].name: another link of kind link has this name"],
    ],
    [
      "a name with a bidi mark",
      ["links:", "  - { name: \"a\\u202Eb\", kind: link, url: 'http://a' }"],
      ["g.yaml:2:13: links[0].name: must be a name of at most 100 characters in one line"],
    ],
    [
      "a server without queries",
      ["metrics:", "  - { url: 'http://a', queries: [] }"],
      ["g.yaml:2:33: metrics[0].queries: must be a list of one to 50 queries"],
    ],
    [
      "a password in the address of Prometheus",
      ["metrics:", "  - { url: 'http://u:secret@a', queries: [{ name: a, query: up }] }"],
      ["g.yaml:2:12: metrics[0].url: must be an http or https URL without a user name and password"],
    ],
    [
      "credentials and a token",
      [...SERVER, "    credentials: a:b", "    token: c"],
      ["g.yaml:5:5: metrics[0].token: only one of credentials and token can be given"],
    ],
    [
      "credentials without a colon",
      [...SERVER, "    credentials: a"],
      ["g.yaml:4:18: metrics[0].credentials: must be <USERNAME>:<PASSWORD>"],
    ],
    [
      "a variable that is not set",
      [...SERVER, "    tokenEnv: NOT_SET_ANYWHERE"],
      ["g.yaml:4:15: metrics[0].tokenEnv: the environment variable NOT_SET_ANYWHERE is not set"],
    ],
    [
      "metrics with one name on two servers",
      [...SERVER, ...SERVER.slice(1)],
      ["g.yaml:5:23: metrics[1].queries[0].name: another metric has this name"],
    ],
    [
      "a state that is an address",
      ["views:", "  - { name: a, state: 'https://evil/#x' }"],
      [
        "g.yaml:2:23: views[0].state: must be the query string of the page's address, such as view=devices&filter=type%3DROUTER",
      ],
    ],
    [
      "a pin without a number",
      [
        "views:",
        "  - name: a",
        "    state: ''",
        "    arrangement:",
        "      pins: [{ device: d, x: left, y: 1 }]",
      ],
      ["g.yaml:5:30: views[0].arrangement.pins[0].x: must be a number from -1000000 to 1000000"],
    ],
    [
      "a device that is pinned twice",
      [
        "views:",
        "  - name: a",
        "    state: ''",
        "    arrangement:",
        "      pins: [{ device: d, x: 1, y: 1 }, { device: d, x: 2, y: 1 }]",
      ],
      ["g.yaml:5:51: views[0].arrangement.pins[1].device: d is pinned twice"],
    ],
    [
      "a box after one that is ignored",
      [
        "views:",
        "  - name: a",
        "    state: ''",
        "    arrangement: { groups: [{ name: Drawn, x: 0 }, { name: b }, { name: '', annotation: c }] }",
      ],
      [
        "g.yaml:4:73: views[0].arrangement.groups[2].name: must be a name of at most 100 characters in one line",
      ],
    ],
    [
      "a box that is nowhere, after one that is ignored",
      [
        "views:",
        "  - name: a",
        "    state: ''",
        "    arrangement: { groups: [{ name: Drawn, x: 0 }, { name: b }] }",
      ],
      ["g.yaml:4:52: views[0].arrangement.groups[1]: must have one of annotation, devices"],
    ],
    [
      "a box that is nowhere",
      ["views:", "  - { name: a, state: '', arrangement: { groups: [{ name: b }] } }"],
      ["g.yaml:2:51: views[0].arrangement.groups[0]: must have one of annotation, devices"],
    ],
    [
      "an unknown key of a view",
      ["views:", "  - { name: a, state: '', pins: [] }"],
      ["g.yaml:2:27: views[0].pins: unknown key; known here: name, state, arrangement"],
    ],
  ];
  for (const [what, lines, expected] of cases) {
    test(what, () => expect(load(...lines).faults).toEqual(expected));
  }
});

test("secrets of Prometheus are not shown, and the files that hold them are checked", async () => {
  const file = join(temporaryFolder(), "token");
  const { loaded, faults } = load(
    ...SERVER,
    "    token: very-secret",
    ...SERVER.slice(1, 2),
    `    tokenFile: ${file}`,
    "    queries: [{ name: b, query: up }]",
  );
  expect(faults).toEqual([]);
  expect(renderSettings(loaded.settings)).not.toContain("very-secret");
  const missing = await checkMapFiles(loaded.settings);
  expect(missing.faults.map(({ message }) => message)).toEqual(["token cannot be read (ENOENT)"]);
  writeFileSync(file, "abc\n", { mode: 0o644 });
  const readable = await checkMapFiles(loaded.settings);
  expect(readable.faults).toEqual([]);
  expect(readable.warnings).toEqual([
    "metrics[1]: tokenFile: token can be read by other users of this machine (chmod 600)",
  ]);
});
