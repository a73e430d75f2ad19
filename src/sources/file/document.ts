/**
 * Parses a JSON or YAML text, and finds the line of a value in it. Fast parsers without positions read the text. Slower
 * ones with positions run only once the text has a fault.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { type FieldPath, findJsonFault, findJsonLine, lineAt } from "./json-location.ts";

export type Language = "JSON" | "YAML";

export type ParseResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line?: number; readonly message: string };

/** The YAML parser with positions is slow. A larger file was not written by hand, so its faults have no line. */
const MAX_YAML_SEARCH_LENGTH = 16 * 1024 * 1024;

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

/** The line of the value at `path`, or of its nearest ancestor. Undefined when it cannot be found. */
export function lineOf(text: string, language: Language, path: FieldPath): number | undefined {
  return language === "JSON" ? findJsonLine(text, path) : findYamlLine(text, path);
}

function parseYamlDocument(text: string) {
  if (text.length > MAX_YAML_SEARCH_LENGTH) return undefined;
  const lineCounter = new LineCounter();
  try {
    return { document: parseDocument(text, { lineCounter, prettyErrors: false }), lineCounter };
  } catch {
    // Thrown for hostile nesting only. Then the fault is reported without a line.
    return undefined;
  }
}

function findYamlFault(text: string): { line: number; message: string } | undefined {
  const parsed = parseYamlDocument(text);
  const first = parsed?.document.errors[0];
  if (!parsed || !first) return undefined;
  return { line: parsed.lineCounter.linePos(first.pos[0]).line, message: first.message };
}

function findYamlLine(text: string, path: FieldPath): number | undefined {
  const parsed = parseYamlDocument(text);
  if (!parsed) return undefined;
  const { document, lineCounter } = parsed;
  let node: Node | null | undefined = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    let next: unknown;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (!pair || !isScalar(pair.key)) break;
      offset = pair.key.range?.[0] ?? offset;
      next = pair.value;
    } else if (isSeq(node) && typeof step === "number") {
      next = node.items[step];
    } else break;
    if (!isScalar(next) && !isMap(next) && !isSeq(next) && !isAlias(next)) break;
    node = next;
    if (typeof step === "number") offset = node.range?.[0] ?? offset;
  }
  return lineCounter.linePos(offset).line;
}
