/**
 * Parses the arguments of one command, strictly: an unknown flag is refused with the nearest known one, a flag that
 * needs a value must have one, and a flag is given once unless it is `repeated`. `--name value` and `--name=value` are
 * the same; `--` ends the flags.
 */
import { nearest } from "../lib/nearest.ts";
import { type Arguments, type Flag, usageFailure } from "./command.ts";

/** Flags that earlier versions had, with what to do instead. */
const GONE_FLAGS: ReadonlyMap<string, string> = new Map([
  ["log-level", "remove it: each line of the log has its level, for what reads the log"],
  ["drift", "give drift=any, or one of the states in its place"],
]);

export const HELP_FLAG: Flag = { name: "help", short: "h", help: "Show this help." };

export function parseArguments(argv: readonly string[], flags: readonly Flag[]): Arguments {
  const known = [...flags, HELP_FLAG];
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === "--") {
      positionals.push(...rest);
      break;
    }
    if (!argument.startsWith("-") || argument === "-") {
      positionals.push(argument);
      continue;
    }
    const { flag, attached } = parseFlag(argument, known);
    const earlier = values.get(flag.name) ?? [];
    if (earlier.length > 0 && !flag.repeated) throw usageFailure(`--${flag.name} is given twice`);
    values.set(flag.name, [...earlier, readValue(flag, attached, rest)]);
  }
  return {
    has: (name) => values.has(name),
    one: (name) => values.get(name)?.[0],
    all: (name) => values.get(name) ?? [],
    positionals,
  };
}

/** `attached` is the value in `--name=value` or `-nvalue`. */
function parseFlag(argument: string, known: readonly Flag[]): { flag: Flag; attached: string | undefined } {
  if (argument.startsWith("--")) {
    const equals = argument.indexOf("=");
    const name = argument.slice(2, equals < 0 ? undefined : equals);
    const flag = known.find((candidate) => candidate.name === name);
    if (flag) return { flag, attached: equals < 0 ? undefined : argument.slice(equals + 1) };
    const advice = GONE_FLAGS.get(name);
    if (advice !== undefined) throw usageFailure(`--${name} is gone; ${advice}`);
    const near = nearest(
      name,
      known.map((candidate) => candidate.name),
    );
    throw usageFailure(`unknown flag --${name}${near === undefined ? "" : `, did you mean --${near}?`}`);
  }
  const flag = known.find((candidate) => candidate.short === argument.charAt(1));
  if (!flag) throw usageFailure(`unknown flag ${argument.slice(0, 2)}`);
  return { flag, attached: argument.length > 2 ? argument.slice(2) : undefined };
}

/** Removes the value from `rest` when it is the next argument. */
function readValue(flag: Flag, attached: string | undefined, rest: string[]): string {
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

/** A flag as the help shows it: `-o, --output FORMAT`. */
export function renderFlagUsage({ name, short, value, optional }: Flag): string {
  const placeholder = value === undefined ? "" : optional ? ` [${value}]` : ` ${value}`;
  return `${short === undefined ? "    " : `-${short}, `}--${name}${placeholder}`;
}
