import { describe, expect, test } from "bun:test";
import { composeConfig, loadConfig } from "./config.ts";
import { parseConfigFile } from "./config-file.ts";
import { renderFault } from "./faults.ts";
import type { Config } from "./schema.ts";

type Values = Readonly<Record<string, unknown>>;

const faultsIn = (...lines: string[]) => parseConfigFile(lines.join("\n"), "g.yaml").faults.map(renderFault);

function compose(file: Values, flags: Values): Config {
  const composed = composeConfig(file, flags);
  if (!composed.ok) throw new Error(composed.faults.map(renderFault).join("\n"));
  return composed.config;
}

describe("a configuration file", () => {
  test("an empty file, or one with comments only, has all defaults", () => {
    for (const text of ["", "# nothing yet\n", "---\n", "limits:\n  # pageLimit: 10\nhistory:\n"]) {
      const file = parseConfigFile(text, "g.yaml");
      expect(file.faults).toEqual([]);
      const config = compose(file.values, {});
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
    const { values, faults } = parseConfigFile(
      `host: 0.0.0.0
port: 9000
aliases: [onos]
cors:
  origins: ["https://map.example.net"]
logLevel: debug
history: { keepDays: 0.5 }
limits:
  pageLimit: 5
readers: auto
sources:
  - { type: demo, devices: 3 }
`,
      "g.yaml",
    );
    expect(faults).toEqual([]);
    const config = compose(values, { port: 0, data: ":memory:", users: undefined });
    expect(config).toMatchObject({
      host: "0.0.0.0",
      port: 0,
      data: ":memory:",
      readers: "auto",
      logLevel: "debug",
    });
    expect(config.limits.pageLimit).toBe(5);
    expect(config.limits.urlBytes).toBe(8192);
    expect(config.sources[0]).toEqual({ type: "demo", devices: 3 });
    expect(
      Object.isFrozen(config) && Object.isFrozen(config.limits) && Object.isFrozen(config.sources[0]),
    ).toBe(true);
  });

  const refused: [what: string, lines: string[], faults: string[]][] = [
    ["an unknown key", ["host: a", "prot: 1"], ["g.yaml:2: prot: unknown key; did you mean port?"]],
    [
      "an unknown key in a section",
      ["limits:", "  pagelimit: 1"],
      ["g.yaml:2: limits.pagelimit: unknown key; did you mean pageLimit?"],
    ],
    ["a port too high", ["", "port: 70000"], ["g.yaml:2: port: must be a whole number from 0 to 65535"]],
    ["text for a number", ["port: eighty"], ["g.yaml:1: port: must be a whole number from 0 to 65535"]],
    ["null for text", ["host:"], ["g.yaml:1: host: must be text"]],
    ["an unknown level", ["logLevel: loud"], ["g.yaml:1: logLevel: must be one of debug, info, warn, error"]],
    [
      "an alias with a slash",
      ["aliases:", "  - onos", "  - a/b"],
      ["g.yaml:3: aliases[1]: must be one path segment, such as onos"],
    ],
    ["readers", ["readers: many"], ["g.yaml:1: readers: must be a whole number from 1 to 256 or auto"]],
    ["a source that is text", ["sources:", "  - demo"], ["g.yaml:2: sources[0]: must be keys and values"]],
    ["a list for a section", ["limits: [1]"], ["g.yaml:1: limits: must be keys and values"]],
    ["a list for the whole file", ["- host"], ["g.yaml:1: must be keys and values"]],
    [
      "several faults at once",
      ["port: x", "hots: y", "cors: { origins: [nowhere] }"],
      [
        "g.yaml:1: port: must be a whole number from 0 to 65535",
        "g.yaml:2: hots: unknown key; did you mean host?",
        "g.yaml:3: cors.origins[0]: must be an origin, such as https://map.example.net, or *",
      ],
    ],
  ];
  for (const [what, lines, expected] of refused) {
    test(`refused: ${what}`, () => expect(faultsIn(...lines)).toEqual(expected));
  }

  test("refused: invalid YAML, duplicate keys, and aliases that expand without bound", () => {
    expect(faultsIn("host: [1", "port: 2")[0]).toStartWith("g.yaml:");
    expect(faultsIn("port: 1", "port: 2")[0]).toStartWith("g.yaml:2: Map keys must be unique");
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de"])
      bomb.push(`${to}: &${to} [${Array(10).fill(`*${from}`)}]`);
    expect(faultsIn(...bomb)).not.toEqual([]);
  });
});

test("flags are checked like the file", () => {
  const faults = (flags: Values) => {
    const composed = composeConfig({}, flags);
    return composed.ok ? [] : composed.faults.map(renderFault);
  };
  expect(faults({ port: 70_000 })).toEqual(["--port must be a whole number from 0 to 65535"]);
  expect(faults({ logLevel: "x" })).toEqual(["--log-level must be one of debug, info, warn, error"]);
  expect(faults({ aliases: ["a b"] })[0]).toContain("--alias must be one path segment");
});

describe("loading", () => {
  test("flags for sources add entries with distinct names", () => {
    const loaded = loadConfig(undefined, { demo: "devices=3", openflow: "", files: ["a.yaml", "b.yaml"] });
    expect(loaded.ok && loaded.config.sources).toEqual([
      { type: "demo", name: "demo", devices: 3 },
      { type: "openflow", name: "openflow" },
      { type: "file", name: "file", path: "a.yaml" },
      { type: "file", name: "file-2", path: "b.yaml" },
    ]);
  });

  test("faults without a file have no position", () => {
    const faults = (...args: Parameters<typeof loadConfig>) => {
      const loaded = loadConfig(...args);
      return loaded.ok ? [] : loaded.faults;
    };
    expect(faults(undefined, { demo: "device=3" }).map(renderFault)).toEqual([
      "--demo: device is not an option, did you mean devices?",
    ]);
    const [listen] = faults(undefined, { openflow: "nowhere" });
    expect(listen?.position).toBeUndefined();
    expect(listen?.path).toEqual(["sources", 0, "listen"]);
    const [missing] = faults("/nonexistent/g.yaml");
    expect(missing?.message).toStartWith("the configuration cannot be read: ENOENT");
    expect(missing?.position).toBeUndefined();
  });
});
