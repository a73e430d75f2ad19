/**
 * Lines in a YAML text. The parser with positions reads about 1 MB a second and needs 200 times the memory of its text, so
 * a larger text is narrowed first: its top-level lists are split into items, groups of items are read by the fast parser,
 * and only the group with the fault, or the item with the value, is read by the slow one.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { type FieldPath, lineAt } from "./json-location.ts";

export interface YamlFault {
  readonly line: number;
  readonly message: string;
}

const MAX_SEARCHED_LENGTH = 512 * 1024;
const GROUP_LENGTH = 128 * 1024;

/** A part of the text that is a document of its own. `linesBefore` leads from its lines to those of the text. */
interface Excerpt {
  readonly text: string;
  readonly linesBefore: number;
}

/** The first fault; undefined when it cannot be found. */
export function findYamlFault(text: string): YamlFault | undefined {
  if (text.length <= MAX_SEARCHED_LENGTH) return faultIn({ text, linesBefore: 0 });
  for (const { key, starts, end } of topLevelLists(text)) {
    for (let from = 0; from < starts.length; ) {
      let to = from + 1;
      while (to < starts.length && (starts[to] ?? end) - (starts[from] ?? 0) < GROUP_LENGTH) to++;
      const group = excerpt(text, key, starts[from] ?? 0, starts[to] ?? end);
      if (!isYaml(group.text)) return faultIn(group);
      from = to;
    }
  }
  return undefined;
}

/** The line of the value at `path`, or of its nearest ancestor. */
export function findYamlLine(text: string, path: FieldPath): number | undefined {
  if (text.length <= MAX_SEARCHED_LENGTH) return lineIn({ text, linesBefore: 0 }, path);
  const [key, index, ...rest] = path;
  for (const list of topLevelLists(text)) {
    if (list.key !== key || typeof index !== "number") continue;
    const start = list.starts[index];
    const end = list.starts[index + 1] ?? list.end;
    if (start !== undefined) return lineIn(excerpt(text, key, start, end), [key, 0, ...rest]);
  }
  return undefined;
}

interface TopLevelList {
  readonly key: string;
  /** The offset of each item. */
  readonly starts: readonly number[];
  readonly end: number;
}

/** The block lists of the top level. Flow lists (`hosts: [...]`) are not among them. */
function* topLevelLists(text: string): Generator<TopLevelList> {
  const keys = [...text.matchAll(/^(\w+):[ \t]*(?:#.*)?$/gm)];
  for (const [i, match] of keys.entries()) {
    const end = keys[i + 1]?.index ?? text.length;
    const indent = /^( *)- /m.exec(text.slice(match.index, Math.min(end, match.index + GROUP_LENGTH)))?.[1];
    if (indent === undefined) continue;
    const item = new RegExp(`^${indent}- `, "gm");
    item.lastIndex = match.index;
    const starts: number[] = [];
    for (let found = item.exec(text); found && found.index < end; found = item.exec(text))
      starts.push(found.index);
    yield { key: match[1] ?? "", starts, end };
  }
}

/** The key stands in a line of its own before the items. */
const excerpt = (text: string, key: string, start: number, end: number): Excerpt => ({
  text: `${key}:\n${text.slice(start, end)}`,
  linesBefore: lineAt(text, start) - 2,
});

function isYaml(text: string): boolean {
  try {
    Bun.YAML.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parseWithPositions(text: string) {
  if (text.length > MAX_SEARCHED_LENGTH) return undefined;
  const lineCounter = new LineCounter();
  try {
    return { document: parseDocument(text, { lineCounter, prettyErrors: false }), lineCounter };
  } catch {
    // Thrown for hostile nesting only. Then the fault is reported without a line.
    return undefined;
  }
}

function faultIn({ text, linesBefore }: Excerpt): YamlFault | undefined {
  const parsed = parseWithPositions(text);
  const first = parsed?.document.errors[0];
  if (!parsed || !first) return undefined;
  return { line: linesBefore + parsed.lineCounter.linePos(first.pos[0]).line, message: first.message };
}

function lineIn({ text, linesBefore }: Excerpt, path: FieldPath): number | undefined {
  const parsed = parseWithPositions(text);
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
  return linesBefore + lineCounter.linePos(offset).line;
}
