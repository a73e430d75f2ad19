/**
 * What a shell can complete after each command, derived from the table of commands: the flags, their values, and the
 * operands in the usage line. Words come from `choices` of a flag and from alternatives in the usage (`devices|links`);
 * placeholders that end in FILE, PATH or DIR are names of files and folders.
 */
import { type Flag, HELP_FLAG } from "./args.ts";
import type { Command } from "./command.ts";

export type Completion =
  | { readonly type: "words"; readonly words: readonly string[] }
  | { readonly type: "files" | "folders" | "none" };

export interface FlagCompletion {
  /** With their dashes: `--output`, `-o`. */
  readonly names: readonly string[];
  readonly help: string;
  /** Undefined for a flag without a value. */
  readonly value?: {
    readonly placeholder: string;
    readonly optional: boolean;
    readonly complete: Completion;
  };
  readonly repeated: boolean;
}

export interface CommandCompletion {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly FlagCompletion[];
  readonly operands: Completion;
}

export function completionTable(commands: readonly Command[]): CommandCompletion[] {
  const names = commands.map((command) => command.name);
  return commands.map(({ name, summary, flags, operands }) => ({
    name,
    summary,
    flags: [...flags, HELP_FLAG].map(flagCompletion),
    operands: operandCompletion(operands, names),
  }));
}

function flagCompletion({ name, short, value, optional, repeated, choices, help }: Flag): FlagCompletion {
  const names = short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
  const common = { names, help, repeated: repeated === true };
  if (value === undefined) return common;
  const complete: Completion = choices ? { type: "words", words: choices } : { type: pathType(value) };
  return { ...common, value: { placeholder: value, optional: optional === true, complete } };
}

/** `[devices|links|hosts|topology] [NAME=VALUE...]` has four words; `[COMMAND]` is the name of a command. */
function operandCompletion(usage: string, commandNames: readonly string[]): Completion {
  const tokens = usage.replaceAll(/[[\].]/g, " ").split(/\s+/);
  const words = tokens.flatMap((token) =>
    token === "COMMAND" ? commandNames : token.includes("|") ? token.split("|") : [],
  );
  if (words.length > 0) return { type: "words", words };
  return { type: tokens.map(pathType).find((type) => type !== "none") ?? "none" };
}

function pathType(placeholder: string): "files" | "folders" | "none" {
  if (/(FILE|PATH)$/.test(placeholder)) return "files";
  return /DIR$/.test(placeholder) ? "folders" : "none";
}
