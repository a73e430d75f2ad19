import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Type from "typebox";
import { schemaOption } from "../lib/schema-faults.ts";
import { SOURCE_KINDS } from "../sources/registry.ts";
import { type ConfigInput, loadConfig } from "./config.ts";
import { parseConfigFile } from "./config-file.ts";
import { renderFault } from "./faults.ts";
import type { FlagReader } from "./flags.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import { type Config, Configuration } from "./schema.ts";
import { renderSettings } from "./show.ts";

const faultsIn = (...lines: string[]) => parseConfigFile(lines.join("\n"), "g.yaml").faults.map(renderFault);

const flagsOf = (flags: Readonly<Record<string, readonly string[]>>): FlagReader => ({
  all: (name) => flags[name] ?? [],
});

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gazetteer-config-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeConfig(text: string): string {
  const file = join(folder, "g.yaml");
  writeFileSync(file, text);
  return file;
}

function load(input: ConfigInput): Config {
  const loaded = loadConfig(input);
  if (!loaded.ok) throw new Error(loaded.faults.map(renderFault).join("\n"));
  return loaded.config;
}

function faultsOf(input: ConfigInput): string[] {
  const loaded = loadConfig(input);
  return loaded.ok ? [] : loaded.faults.map(renderFault);
}

describe("keys that are gone", () => {
  /** A document that has the key; entries of lists have nothing else. */
  function documentWith([first = "", ...rest]: readonly string[], schema: Type.TSchema): object {
    const property = Type.IsObject(schema) ? schema.properties[first] : undefined;
    if (first === "sources") return { sources: [{ type: rest[0], [rest[1] ?? ""]: 1 }] };
    if (!property || rest.length === 0) return { [first]: 1 };
    if (Type.IsArray(property)) return { [first]: [documentWith(rest, property.items)] };
    return { [first]: documentWith(rest, property) };
  }

  test.each(GONE_KEYS.map((row) => [row.key, row] as const))("%s", (key, { advice, ignored }) => {
    const text = JSON.stringify(documentWith(key.split("."), Configuration));
    const loaded = loadConfig({ file: writeConfig(text) });
    const faults = loaded.ok ? [] : loaded.faults.map(renderFault);
    const named = ignored ? loaded.warnings : faults;
    expect(named.filter((line) => line.endsWith(`: is gone; ${advice}`))).toHaveLength(1);
    if (ignored) expect(faults.filter((line) => line.includes("unknown key"))).toEqual([]);
  });

  test("--set of an ignored key is a warning too, and of any other one a fault", () => {
    const set = (assignment: string) =>
      loadConfig({ flags: { all: (name) => (name === "set" ? [assignment] : []) } });
    const loaded = set("logLevel=debug");
    expect({ ok: loaded.ok, warnings: loaded.warnings }).toEqual({
      ok: true,
      warnings: [expect.stringContaining("--set logLevel: is gone; remove it")],
    });
    expect(set("limits.urlBytes=1").ok).toBe(false);
  });
});

describe("a configuration file", () => {
  test("an empty file, or one with comments only, has all defaults", () => {
    for (const text of ["", "# nothing yet\n", "---\n", "limits:\n  # pageLimit: 10\nhistory:\n"]) {
      const config = load({ file: writeConfig(text) });
      expect(config.host).toBe("127.0.0.1");
      expect(config.port).toBe(8181);
      expect(config.data).toBe("./data");
      expect(config.users).toBeUndefined();
      expect(config.limits.pageLimit).toBe(10_000);
      expect(config.limits.streamsPerUser).toBe(100);
      expect(config.limits.requestsPerSecond).toBe(0);
      expect(config.history.keepDays).toBe(30);
      expect(config.readers).toBe(1);
    }
  });

  test("its values are used, flags replace them, and the result is frozen", () => {
    const file = writeConfig(
      `host: 0.0.0.0
allowPlaintext: true
port: 9000
aliases: [onos]
cors:
  origins: ["https://map.example.net"]
history: { keepDays: 0.5 }
limits:
  pageLimit: 5
readers: auto
sources:
  - { type: demo, devices: 3 }
`,
    );
    const config = load({ file, flags: flagsOf({ port: ["0"], data: [":memory:"] }) });
    expect(config).toMatchObject({
      host: "0.0.0.0",
      port: 0,
      data: ":memory:",
      readers: "auto",
    });
    expect(config.limits.pageLimit).toBe(5);
    expect(config.limits.headerBytes).toBe(16_384);
    expect(config.sources[0]).toEqual({ type: "demo", devices: 3 });
    expect(
      Object.isFrozen(config) && Object.isFrozen(config.limits) && Object.isFrozen(config.sources[0]),
    ).toBe(true);
  });

  const refused: [what: string, lines: string[], faults: string[]][] = [
    ["an unknown key", ["host: a", "prot: 1"], ["g.yaml:2:1: prot: unknown key; did you mean port?"]],
    [
      "an unknown key in a section",
      ["limits:", "  pagelimit: 1"],
      ["g.yaml:2:3: limits.pagelimit: unknown key; did you mean pageLimit?"],
    ],
    ["a port too high", ["", "port: 70000"], ["g.yaml:2:7: port: must be a whole number from 0 to 65535"]],
    ["text for a number", ["port: eighty"], ["g.yaml:1:7: port: must be a whole number from 0 to 65535"]],
    ["null for text", ["host:"], ["g.yaml:1:6: host: must be text"]],
    [
      "an alias with a slash",
      ["aliases:", "  - onos", "  - a/b"],
      ["g.yaml:3:5: aliases[1]: must be one path segment, such as onos"],
    ],
    ["readers", ["readers: many"], ["g.yaml:1:10: readers: must be a whole number from 1 to 256 or auto"]],
    ["a source that is text", ["sources:", "  - demo"], ["g.yaml:2:5: sources[0]: must be keys and values"]],
    ["a list for a section", ["limits: [1]"], ["g.yaml:1:9: limits: must be keys and values"]],
    ["a list for the whole file", ["- host"], ["g.yaml:1:1: must be keys and values"]],
    [
      "several faults at once",
      ["port: x", "hots: y", "cors: { origins: [nowhere] }"],
      [
        "g.yaml:1:7: port: must be a whole number from 0 to 65535",
        "g.yaml:2:1: hots: unknown key; did you mean host?",
        "g.yaml:3:19: cors.origins[0]: must be an origin, such as https://map.example.net, or *",
      ],
    ],
  ];
  for (const [what, lines, expected] of refused) {
    test(`refused: ${what}`, () => expect(faultsIn(...lines)).toEqual(expected));
  }

  test("refused: invalid YAML, duplicate keys, and aliases that expand without bound", () => {
    expect(faultsIn("host: [1", "port: 2")[0]).toStartWith("g.yaml:");
    expect(faultsIn("port: 1", "port: 2")[0]).toStartWith("g.yaml:2:1: Map keys must be unique");
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de"])
      bomb.push(`${to}: &${to} [${Array(10).fill(`*${from}`)}]`);
    expect(faultsIn(...bomb)).not.toEqual([]);
  });
});

test("flags and the environment are checked like the file, all faults at once", () => {
  const flags = (values: Readonly<Record<string, readonly string[]>>) => faultsOf({ flags: flagsOf(values) });
  expect(flags({ port: ["70000"], readers: ["x"] })).toEqual([
    "--port: must be a whole number from 0 to 65535",
    "--readers: must be a whole number from 1 to 256 or auto",
  ]);
  expect(flags({ alias: ["a b"] })).toEqual(["--alias: must be one path segment, such as onos"]);
  expect(flags({ demo: ["device=3,hosts=x"] })).toEqual([
    "--demo: device: unknown key; did you mean devices?",
    "--demo: hosts: must be a whole number from 0 to 2000000",
  ]);
  expect(flags({ openflow: ["nowhere"] })).toEqual([
    "--openflow: listen: must be [HOST:]PORT, such as 6653 or 0.0.0.0:6653",
  ]);
  expect(flags({ set: ["limits.pagelimit=3", "aliases=x", "port", "history.keepDays=long"] })).toEqual([
    "--set limits.pagelimit: unknown key; did you mean limits.pageLimit?",
    "--set aliases: is a list; set it in the file or with GAZETTEER_ALIASES",
    "--set: port must be KEY=VALUE, such as port=8181",
    "--set history.keepDays: must be a number from 0 to 36500",
  ]);
  expect(flags({ port: ["1"], set: ["port=2"] })).toEqual(["--set port: port is given twice"]);
  const environment = {
    GAZETTEER_PORT: "x",
    GAZETTEER_ALIASES: "onos, a/b",
    GAZETTEER_SOURCES: '[{"type":"demo","devises":3}]',
  };
  expect(faultsOf({ environment })).toEqual([
    "GAZETTEER_PORT: must be a whole number from 0 to 65535",
    "GAZETTEER_ALIASES: [1]: must be one path segment, such as onos",
    "GAZETTEER_SOURCES: [0].devises: unknown key; did you mean devices?",
  ]);
  expect(faultsOf({ environment: { GAZETTEER_SOURCES: "demo" } })).toEqual([
    'GAZETTEER_SOURCES: must be JSON, such as [{"type":"demo"}]',
  ]);
});

test("an unknown variable is a warning with the nearest name; an empty one counts as not set", () => {
  const environment = {
    GAZETTEER_PROT: "1",
    GAZETTEER_CREDENTIALS: "a:b",
    GAZETTEER_URL: "http://x",
    GAZETTEER_HOST: "",
    PORT: "2",
  };
  expect(loadConfig({ environment }).warnings).toEqual([
    "GAZETTEER_PROT is not known; did you mean GAZETTEER_PORT?",
  ]);
  expect(load({ environment }).host).toBe("127.0.0.1");
});

describe("sources", () => {
  test("flags add entries with distinct names to the list of the file or of the environment", () => {
    const flags = flagsOf({ demo: ["devices=3"], openflow: [""], file: ["a.yaml", "b.yaml"] });
    expect(load({ flags }).sources).toEqual([
      { type: "demo", name: "demo", devices: 3 },
      { type: "openflow", name: "openflow", forwarding: "bridge" },
      { type: "file", name: "file", path: "a.yaml" },
      { type: "file", name: "file-2", path: "b.yaml" },
    ]);
    const file = writeConfig("sources:\n  - { type: demo }\naliases: [onos]\n");
    expect(load({ file, flags: flagsOf({ demo: [""], alias: ["onos", "x"] }) })).toMatchObject({
      sources: [{ type: "demo" }, { type: "demo", name: "demo-2" }],
      aliases: ["onos", "x"],
    });
    const environment = { GAZETTEER_SOURCES: '[{"type":"file","path":"n"}]' };
    expect(load({ file, environment, flags: flagsOf({ demo: [""] }) }).sources).toEqual([
      { type: "file", path: "n" },
      { type: "demo", name: "demo" },
    ]);
  });

  test("a faulty entry does not hide the faults of the others", () => {
    const file = writeConfig(
      "prot: 1\nsources:\n  - demo\n  - { type: demo, devices: 0, hots: 1 }\n  - { type: openflow }\n",
    );
    expect(
      faultsOf({ file, flags: flagsOf({ openflow: ["x"] }) }).map((line) => line.replace(file, "g")),
    ).toEqual([
      "g:1:1: prot: unknown key; did you mean port?",
      "g:3:5: sources[0]: must be keys and values",
      "g:4:28: sources[1].devices: must be a whole number from 1 to 50000",
      "g:4:31: sources[1].hots: unknown key; did you mean hosts?",
      expect.stringMatching(
        /^g:5:\d+: sources\[2\]\.forwarding: is required; must be bridge \(.*\) or none \(/,
      ),
      "--openflow: listen: must be [HOST:]PORT, such as 6653 or 0.0.0.0:6653",
    ]);
  });
});

test("a file that cannot be read is a fault without a position", () => {
  const [missing] = faultsOf({ file: "/nonexistent/g.yaml" });
  expect(missing).toStartWith("the configuration cannot be read: ENOENT");
});

test("a variable that holds a secret of a source is known", () => {
  const source = { type: "controller", url: "http://h/", credentialsEnv: "GAZETTEER_ONOS" };
  const environment = { GAZETTEER_SOURCES: JSON.stringify([source]), GAZETTEER_ONOS: "a:b" };
  expect(loadConfig({ environment }).warnings).toEqual([]);
});

test("a syntax error does not quote the file, which may have a password there", () => {
  for (const text of ["password: *hunter2", "a: |hunter2", "- a\nb: hunter2", "a: ]hunter2", '"hunter2'])
    for (const fault of faultsOf({ file: writeConfig(text) })) expect(fault).not.toContain("hunter2");
});

test("the effective configuration hides secrets and is a valid file again", () => {
  const sources = [{ type: "demo", name: "x", snmp: { community: "public" }, url: "http://u:pw@h/" }];
  const { settings } = loadConfig({ environment: { GAZETTEER_SOURCES: JSON.stringify(sources) } });
  const text = renderSettings(settings);
  expect(text).toContain("community: (hidden)");
  expect(text).toContain("http://u:(hidden)@h/");
  expect(text).not.toMatch(/public|pw/);
  const shown = renderSettings(loadConfig({ flags: flagsOf({ port: ["1"], demo: ["devices=3"] }) }).settings);
  expect(load({ file: writeConfig(shown) })).toMatchObject({
    port: 1,
    sources: [{ type: "demo", devices: 3 }],
  });
});

describe("relative paths", () => {
  const SOURCES = (at: (path: string) => string, directory = ".") => [
    { type: "file", name: "a", path: at("net.yaml") },
    {
      type: "exec",
      name: "b",
      command: ["./list", "x/y"],
      directory: at(directory),
      environmentFile: at("env"),
    },
    { type: "http", name: "c", url: "http://h/", ca: at("ca.pem"), credentialsFile: at("c") },
    { type: "openflow", name: "d", forwarding: "none", tls: { cert: at("o.pem"), key: at("o.key") } },
    {
      type: "snmp",
      name: "e",
      targets: ["192.0.2.1"],
      v3: {
        user: "u",
        authProtocol: "sha",
        authPasswordFile: at("auth"),
        privProtocol: "aes",
        privPasswordFile: at("../priv"),
      },
    },
  ];
  const METRICS = (at: (path: string) => string) => [
    { url: "http://p/", ca: at("p.pem"), tokenFile: at("token"), queries: [{ name: "load", query: "up" }] },
  ];

  test("of a file, in every key and source, are relative to that file", () => {
    const settings = {
      data: "./data",
      users: "users",
      tls: { cert: "tls/cert.pem", key: "/abs/key.pem" },
      accessLog: "log/access",
      cluster: { tls: { ca: "nats.pem" }, credentialsFile: "nats.creds", secretFile: "secret" },
      metrics: METRICS((path) => path),
      // The folder of a program is that of the file where the entry has none.
      sources: SOURCES((path) => path).map((entry) => ({
        ...entry,
        ...("directory" in entry && { directory: undefined }),
      })),
    };
    const config = load({ file: writeConfig(JSON.stringify(settings)) });
    const at = (path: string) => join(folder, path);
    expect(config).toMatchObject({
      data: at("data"),
      users: at("users"),
      tls: { cert: at("tls/cert.pem"), key: "/abs/key.pem" },
      accessLog: at("log/access"),
      cluster: { tls: { ca: at("nats.pem") }, credentialsFile: at("nats.creds"), secretFile: at("secret") },
      metrics: METRICS(at),
      sources: SOURCES(at),
    });
  });

  test("of flags, the environment and defaults stay, and what is no path stays too", () => {
    const file = writeConfig("data: ':memory:'\naccessLog: '-'\n");
    const environment = {
      GAZETTEER_USERS: "users",
      GAZETTEER_SOURCES: JSON.stringify(SOURCES((path) => path)),
      GAZETTEER_METRICS: JSON.stringify(METRICS((path) => path)),
    };
    const config = load({
      file,
      environment,
      flags: flagsOf({ file: ["more.yaml"], set: ["tls.cert=c", "tls.key=k"] }),
    });
    expect(config).toMatchObject({
      data: ":memory:",
      accessLog: "-",
      users: "users",
      tls: { cert: "c", key: "k" },
      metrics: METRICS((path) => path),
      sources: [...SOURCES((path) => path), { type: "file", path: "more.yaml" }],
    });
    expect(load({ file: writeConfig("port: 1\n") }).data).toBe("./data");
  });

  test("every option that is named like a file is a path", () => {
    const texts = (schema: Type.TSchema, name: string): [name: string, isPath: boolean][] => {
      if (Type.IsObject(schema))
        return Object.entries(schema.properties).flatMap(([key, property]) => texts(property, key));
      if (Type.IsArray(schema)) return texts(schema.items, name);
      if (Type.IsUnion(schema)) return schema.anyOf.flatMap((option) => texts(option, name));
      return Type.IsString(schema) ? [[name, schemaOption(schema, "path") !== undefined]] : [];
    };
    const all = [Configuration, ...Object.values(SOURCE_KINDS).map(({ options }) => options)];
    for (const [name, isPath] of all.flatMap((schema) => texts(schema, ""))) {
      const isNamedLikePath = /File$|^(data|users|accessLog|path|directory|ca|clientCa|cert|key)$/.test(name);
      expect([name, isPath]).toEqual([name, isNamedLikePath]);
    }
  });
});

test("a header with the user needs trusted proxies, and a name of its own", () => {
  const faultsOf = (header: string, proxies: string) => {
    const loaded = loadConfig({
      environment: { GAZETTEER_AUTH_USER_HEADER: header, GAZETTEER_TRUSTED_PROXIES: proxies },
    });
    return loaded.ok ? loaded.config.auth : loaded.faults.map(renderFault).join();
  };
  expect(faultsOf("X-Remote-User", "127.0.0.1")).toEqual({ userHeader: "X-Remote-User" });
  expect(faultsOf("X-Remote-User", "")).toContain("needs trustedProxies");
  expect(faultsOf("authorization", "127.0.0.1")).toContain("has another meaning");
  expect(faultsOf("X Remote", "127.0.0.1")).toContain("the name of a header, such as X-Remote-User");
});
