/**
 * Reads the arguments of one command, strictly: what is not known is refused with the nearest thing that is, a flag
 * that wants a value gets one, and a flag for one thing is given once. `--name value` and `--name=value` are the same;
 * `--` ends the flags.
 */
import { nearest } from "../lib/nearest.ts";
import { usageFailure } from "./failure.ts";

export interface Flag {
  /** Long name without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** What stands for the value in the help; without it the flag takes none. */
  readonly value?: string;
  /** The value may be left out. */
  readonly optional?: boolean;
  readonly repeated?: boolean;
  readonly help: string;
}

export interface Arguments {
  has(flag: string): boolean;
  /** The value; empty when the flag was given without one. */
  one(flag: string): string | undefined;
  all(flag: string): readonly string[];
  readonly positionals: readonly string[];
}

export const HELP_FLAG: Flag = { name: "help", short: "h", help: "Show this and end." };

export function parseArguments(given: readonly string[], flags: readonly Flag[]): Arguments {
  const known = [...flags, HELP_FLAG];
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const rest = [...given];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      positionals.push(...rest);
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      positionals.push(word);
      continue;
    }
    const { flag, attached } = findFlag(word, known);
    const before = values.get(flag.name) ?? [];
    if (before.length > 0 && !flag.repeated) throw usageFailure(`--${flag.name} is given twice`);
    values.set(flag.name, [...before, takeValue(flag, attached, rest)]);
  }
  return {
    has: (name) => values.has(name),
    one: (name) => values.get(name)?.[0],
    all: (name) => values.get(name) ?? [],
    positionals,
  };
}

function findFlag(word: string, known: readonly Flag[]): { flag: Flag; attached: string | undefined } {
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    const name = word.slice(2, equals < 0 ? undefined : equals);
    const flag = known.find((candidate) => candidate.name === name);
    if (flag) return { flag, attached: equals < 0 ? undefined : word.slice(equals + 1) };
    const near = nearest(
      name,
      known.map((candidate) => candidate.name),
    );
    throw usageFailure(`unknown flag --${name}${near === undefined ? "" : `, did you mean --${near}?`}`);
  }
  const flag = known.find((candidate) => candidate.short === word.charAt(1));
  if (!flag) throw usageFailure(`unknown flag ${word.slice(0, 2)}`);
  return { flag, attached: word.length > 2 ? word.slice(2) : undefined };
}

function takeValue(flag: Flag, attached: string | undefined, rest: string[]): string {
  if (flag.value === undefined) {
    if (attached !== undefined) throw usageFailure(`--${flag.name} takes no value`);
    return "";
  }
  if (attached !== undefined) return attached;
  const next = rest[0];
  if (flag.optional) return next === undefined || next.startsWith("-") ? "" : (rest.shift() ?? "");
  if (next === undefined) throw usageFailure(`--${flag.name} wants a value: --${flag.name} ${flag.value}`);
  rest.shift();
  return next;
}

/** How a flag is written, for the help: `-o, --output FORMAT`. */
export function flagUsage({ name, short, value, optional }: Flag): string {
  const shown = value === undefined ? "" : optional ? ` [${value}]` : ` ${value}`;
  return `${short === undefined ? "    " : `-${short}, `}--${name}${shown}`;
}
