/**
 * Text to value, and back to the line a part of the value came from. The fast parsers read; only when something is
 * wrong does a slower one look for the line. Which of the two languages it is, the name of the file says.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { jsonPosition, type Path } from "./json-location.ts";

export type Language = "JSON" | "YAML";

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line?: number; readonly message: string };

/** YAML larger than this was not written by hand, and is too slow to parse again only to find a line. */
const MAX_YAML_SEARCH_LENGTH = 16 * 1024 * 1024;

/** By its name; a file without a telling one is JSON when it begins like JSON. */
export function languageOf(name: string, text: string): Language {
  if (/\.json$/i.test(name)) return "JSON";
  if (/\.ya?ml$/i.test(name)) return "YAML";
  return /^\s*[{[]/.test(text) ? "JSON" : "YAML";
}

export function parse(text: string, language: Language): Parsed {
  if (text.trim() === "") return { ok: false, message: "is empty" };
  return language === "JSON" ? parseJson(text) : parseYaml(text);
}

function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    const { offset, fault = "cannot be read" } = jsonPosition(text, []);
    return { ok: false, line: lineAt(text, offset), message: `is not JSON: ${fault}` };
  }
}

function parseYaml(text: string): Parsed {
  const repeated = repeatedKey(text);
  if (repeated) return { ok: false, line: repeated.line, message: `${repeated.key}: is given twice` };
  try {
    return { ok: true, value: Bun.YAML.parse(text) };
  } catch (error) {
    const what = error instanceof Error ? error.message.replace(/^YAML Parse error: /, "") : String(error);
    const found = yamlFault(text);
    return {
      ok: false,
      ...(found && { line: found.line }),
      message: `is not YAML: ${found?.message ?? what}`,
    };
  }
}

/**
 * The fast parser takes the last of two equal keys without a word. At the top that would drop a whole section, the
 * likely outcome of pasting two files together; deeper down it is left to YAML's habit.
 */
function repeatedKey(text: string): { key: string; line: number } | undefined {
  const seen = new Set<string>();
  for (const match of text.matchAll(/^(["']?)(\w+)\1[ \t]*:(?=\s|$)/gm)) {
    const key = match[2] ?? "";
    if (seen.has(key)) return { key, line: lineAt(text, match.index) };
    seen.add(key);
  }
  return undefined;
}

/** The line of the deepest part of `path` that exists; undefined when it cannot be told. */
export function lineOf(text: string, language: Language, path: Path): number | undefined {
  if (language === "JSON") return lineAt(text, jsonPosition(text, path).offset);
  return yamlLine(text, path);
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

function yamlDocument(text: string) {
  if (text.length > MAX_YAML_SEARCH_LENGTH) return undefined;
  const lineCounter = new LineCounter();
  try {
    return { document: parseDocument(text, { lineCounter, prettyErrors: false }), lineCounter };
  } catch {
    // Only hostile nesting gets here; without a line the report is still true.
    return undefined;
  }
}

function yamlFault(text: string): { line: number; message: string } | undefined {
  const parsed = yamlDocument(text);
  const first = parsed?.document.errors[0];
  if (!parsed || !first) return undefined;
  return { line: parsed.lineCounter.linePos(first.pos[0]).line, message: first.message };
}

function yamlLine(text: string, path: Path): number | undefined {
  const parsed = yamlDocument(text);
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
