/**
 * Parses a JSON or YAML text, and finds the lines of values in it. Fast parsers without positions read the text. Slower
 * ones with positions run only once the text has a fault.
 */
import { type FieldPath, findJsonFault, findJsonLines, lineAt } from "./text-location.ts";
import { findYamlFault, findYamlLines } from "./yaml-location.ts";

export type Language = "JSON" | "YAML";

export type ParseResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line?: number; readonly message: string };

/** By the extension of the file name. Without a known extension, a text that begins with a bracket is JSON. */
export function languageOf(name: string, text: string): Language {
  if (/\.json$/i.test(name)) return "JSON";
  if (/\.ya?ml$/i.test(name)) return "YAML";
  return /^\s*[{[]/.test(text) ? "JSON" : "YAML";
}

export function parse(text: string, language: Language): ParseResult {
  if (text.trim() === "") return { ok: false, message: "is empty" };
  return language === "JSON" ? parseJson(text) : parseYaml(text);
}

function parseJson(text: string): ParseResult {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    const fault = findJsonFault(text);
    return {
      ok: false,
      ...(fault && { line: fault.line }),
      message: `is not JSON: ${fault?.message ?? "cannot be parsed"}`,
    };
  }
}

function parseYaml(text: string): ParseResult {
  const repeated = findRepeatedKey(text);
  if (repeated) return { ok: false, line: repeated.line, message: `${repeated.key}: is given twice` };
  try {
    return { ok: true, value: Bun.YAML.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^YAML Parse error: /, "") : String(error);
    const found = findYamlFault(text);
    return {
      ok: false,
      ...(found && { line: found.line }),
      message: `is not YAML: ${found?.message ?? reason}`,
    };
  }
}

/**
 * The fast parser silently uses the last of two equal keys. At the top level that would drop a whole section, for example
 * after two files were concatenated. Repeated keys at deeper levels are not reported.
 */
function findRepeatedKey(text: string): { key: string; line: number } | undefined {
  const seen = new Set<string>();
  for (const match of text.matchAll(/^(["']?)(\w+)\1[ \t]*:(?=\s|$)/gm)) {
    const key = match[2] ?? "";
    if (seen.has(key)) return { key, line: lineAt(text, match.index) };
    seen.add(key);
  }
  return undefined;
}

/**
 * For each path the line of its value, or of its nearest ancestor. Undefined when it cannot be found. The text is read once
 * for all of them.
 */
export function linesOf(
  text: string,
  language: Language,
  paths: readonly FieldPath[],
): readonly (number | undefined)[] {
  return language === "JSON" ? findJsonLines(text, paths) : findYamlLines(text, paths);
}
