import { describe, expect, test } from "bun:test";
import { composeConfig, parseConfig } from "./config.ts";

const faults = (...lines: string[]) => parseConfig(lines.join("\n"), "g.yaml").faults;

describe("a configuration file", () => {
  test("an empty one, or one of comments, is all defaults", () => {
    for (const text of ["", "# nothing yet\n", "---\n", "limits:\n  # pageLimit: 10\nhistory:\n"]) {
      const file = parseConfig(text, "g.yaml");
      expect(file.faults).toEqual([]);
      const config = composeConfig(file.values, {});
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

  test("what it says stands, flags stand above it, and nobody can change it", () => {
    const { values, faults } = parseConfig(
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
    const config = composeConfig(values, { port: 0, data: ":memory:", users: undefined });
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
    ["a key nobody knows", ["host: a", "prot: 1"], ["g.yaml:2: prot: unknown key; did you mean port?"]],
    [
      "one further in",
      ["limits:", "  pagelimit: 1"],
      ["g.yaml:2: limits.pagelimit: unknown key; did you mean pageLimit?"],
    ],
    ["a port too high", ["", "port: 70000"], ["g.yaml:2: port: must be a whole number from 0 to 65535"]],
    ["text for a number", ["port: eighty"], ["g.yaml:1: port: must be a whole number from 0 to 65535"]],
    ["nothing for text", ["host:"], ["g.yaml:1: host: must be text"]],
    [
      "a level nobody knows",
      ["logLevel: loud"],
      ["g.yaml:1: logLevel: must be one of debug, info, warn, error"],
    ],
    [
      "an alias with a slash",
      ["aliases:", "  - onos", "  - a/b"],
      ["g.yaml:3: aliases[1]: must be one path segment, such as onos"],
    ],
    ["readers", ["readers: many"], ["g.yaml:1: readers: must be a whole number from 1 to 256 or auto"]],
    ["a source that is a word", ["sources:", "  - demo"], ["g.yaml:2: sources[0]: must be keys and values"]],
    ["a list for a section", ["limits: [1]"], ["g.yaml:1: limits: must be keys and values"]],
    ["a list for everything", ["- host"], ["g.yaml:1: must be keys and values"]],
    [
      "several at once",
      ["port: x", "hots: y", "cors: { origins: [nowhere] }"],
      [
        "g.yaml:1: port: must be a whole number from 0 to 65535",
        "g.yaml:2: hots: unknown key; did you mean host?",
        "g.yaml:3: cors.origins[0]: must be an origin, such as https://map.example.net, or *",
      ],
    ],
  ];
  for (const [what, lines, expected] of refused) {
    test(`refused: ${what}`, () => expect(faults(...lines)).toEqual(expected));
  }

  test("refused: YAML that is none, keys that stand twice, and an explosion of aliases", () => {
    expect(faults("host: [1", "port: 2")[0]).toStartWith("g.yaml:");
    expect(faults("port: 1", "port: 2")[0]).toStartWith("g.yaml:2: Map keys must be unique");
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de"])
      bomb.push(`${to}: &${to} [${Array(10).fill(`*${from}`)}]`);
    expect(faults(...bomb)).not.toEqual([]);
  });
});

test("flags are checked as the file is", () => {
  expect(() => composeConfig({}, { port: 70_000 })).toThrow("--port must be a whole number from 0 to 65535");
  expect(() => composeConfig({}, { logLevel: "x" })).toThrow("--log-level must be one of");
  expect(() => composeConfig({}, { aliases: ["a b"] })).toThrow("--alias must be one path segment");
});
