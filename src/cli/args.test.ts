import { describe, expect, test } from "bun:test";
import { parseArguments, renderFlagUsage } from "./args.ts";
import type { Flag } from "./command.ts";

const FLAGS: Flag[] = [
  { name: "port", value: "N", help: "" },
  { name: "demo", value: "SPEC", optional: true, help: "" },
  { name: "file", value: "PATH", repeated: true, help: "" },
  { name: "output", short: "o", value: "FORMAT", help: "" },
  { name: "quiet", short: "q", help: "" },
];
const parse = (...argv: string[]) => parseArguments(argv, FLAGS);

describe("arguments", () => {
  const cases: [what: string, argv: string[], flags: Record<string, string[]>, positionals: string[]][] = [
    ["no arguments", [], {}, []],
    ["a value in the next argument", ["--port", "80"], { port: ["80"] }, []],
    ["a value attached", ["--port=80"], { port: ["80"] }, []],
    ["an empty value", ["--port="], { port: [""] }, []],
    ["a value that looks like a flag", ["--port", "-1"], { port: ["-1"] }, []],
    ["a value with equals signs", ["--file=a=b"], { file: ["a=b"] }, []],
    ["an optional value that is given", ["--demo", "hosts=3"], { demo: ["hosts=3"] }, []],
    ["an optional value, left out at the end", ["--demo"], { demo: [""] }, []],
    ["an optional value, left out before a flag", ["--demo", "--port", "0"], { demo: [""], port: ["0"] }, []],
    ["a repeated flag", ["--file", "a", "--file", "b"], { file: ["a", "b"] }, []],
    ["a short flag", ["-o", "json"], { output: ["json"] }, []],
    ["a short flag with its value attached", ["-ojson", "-q"], { output: ["json"], quiet: [""] }, []],
    ["positionals between flags", ["a", "-q", "b=c", "-"], { quiet: [""] }, ["a", "b=c", "-"]],
    ["positionals after --", ["--", "--port", "-q"], {}, ["--port", "-q"]],
    ["help is a flag of every command", ["-h"], { help: [""] }, []],
  ];
  for (const [what, argv, flags, positionals] of cases) {
    test(what, () => {
      const args = parse(...argv);
      expect([...args.positionals]).toEqual(positionals);
      for (const name of [...FLAGS.map((flag) => flag.name), "help"]) {
        expect([...args.all(name)]).toEqual(flags[name] ?? []);
        expect(args.has(name)).toBe(name in flags);
        expect(args.one(name)).toBe(flags[name]?.[0]);
      }
    });
  }

  const refused: [argv: string[], message: string][] = [
    [["--prot", "80"], "unknown flag --prot, did you mean --port?"],
    [["--something-else"], "unknown flag --something-else"],
    [["-x"], "unknown flag -x"],
    [["--log-level", "debug"], "--log-level is gone; remove it: each line"],
    [["--port"], "--port wants a value: --port N"],
    [["--quiet=yes"], "--quiet takes no value"],
    [["--port", "1", "--port", "2"], "--port is given twice"],
  ];
  for (const [argv, message] of refused) {
    test(`refused: ${argv.join(" ")}`, () => expect(() => parse(...argv)).toThrow(message));
  }
});

test("flags are rendered for the help", () => {
  expect(FLAGS.map(renderFlagUsage)).toEqual([
    "    --port N",
    "    --demo [SPEC]",
    "    --file PATH",
    "-o, --output FORMAT",
    "-q, --quiet",
  ]);
});
