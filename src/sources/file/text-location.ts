/**
 * Finds the lines of faults and values in a JSON or YAML text, with slower parsers that report positions: jsonc-parser for
 * JSON (strict: no comments, no trailing commas) and `yaml` for YAML. The fast parsers, which read the files first, report no
 * lines, so a text is scanned again only if it has a fault.
 */
import { type JSONVisitor, type ParseOptions, printParseErrorCode, visit } from "jsonc-parser";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

/** The keys and indexes from the root to a value. */
export type FieldPath = readonly (string | number)[];

interface JsonFault {
  readonly line: number;
  readonly message: string;
}

const STRICT_JSON: ParseOptions = { disallowComments: true, allowTrailingComma: false };
/** Maximum depth, deeper than any valid record. The parser is recursive, so hostile nesting would exhaust the stack. */
const MAX_DEPTH = 64;
const MAX_QUOTED_LENGTH = 40;
/** The error that a visitor throws, because `visit` cannot be stopped in another way. */
const STOP = new Error("stop");

function visitUntilStopped(text: string, visitor: JSONVisitor): void {
  try {
    visit(text, visitor, STRICT_JSON);
  } catch (error) {
    // A RangeError means that the stack limit was reached.
    if (error !== STOP && !(error instanceof RangeError)) throw error;
  }
}

/** Finds the first fault in the text; undefined when it is JSON. */
export function findJsonFault(text: string): JsonFault | undefined {
  let fault: JsonFault | undefined;
  let lastKey = "";
  const closers: ("}" | "]")[] = [];
  const stop = (line: number, message: string): never => {
    fault = { line, message };
    throw STOP;
  };
  const open = (closer: "}" | "]") => (_offset: number, _length: number, line: number) => {
    if (closers.push(closer) > MAX_DEPTH) stop(line + 1, "is nested too deeply");
    return true;
  };
  const close = () => {
    closers.pop();
  };
  visitUntilStopped(text, {
    onObjectBegin: open("}"),
    onObjectEnd: close,
    onArrayBegin: open("]"),
    onArrayEnd: close,
    onObjectProperty: (key) => {
      lastKey = key;
    },
    onError: (code, offset, length, line) => {
      const endOffset = text.trimEnd().length;
      if (offset >= endOffset) stop(lineAt(text, endOffset), "ends too early");
      const token = text.slice(offset, offset + Math.min(length, MAX_QUOTED_LENGTH));
      stop(line + 1, describeError(printParseErrorCode(code), token, lastKey, closers.at(-1)));
    },
  });
  return fault;
}

function describeError(
  code: ReturnType<typeof printParseErrorCode>,
  token: string,
  lastKey: string,
  closer: string | undefined,
): string {
  switch (code) {
    case "ValueExpected":
      return `expected a value, not ${token}`;
    case "PropertyNameExpected":
      return `expected a key in quotes, not ${token}`;
    case "ColonExpected":
      return `expected : after the key ${JSON.stringify(lastKey)}`;
    case "CommaExpected":
      return `expected , or ${closer}, not ${token}`;
    case "EndOfFileExpected":
      return "expected nothing after the value";
    case "InvalidCommentToken":
      return "comments are not allowed";
    case "UnexpectedEndOfString":
      return "a string without its closing quote";
    default:
      return `unexpected ${token}`;
  }
}

/**
 * Finds for each path the line of its value, or of the nearest ancestor when there is no such value. Of a repeated key the
 * last one is used, as in `JSON.parse`.
 */
export function findJsonLines(text: string, paths: readonly FieldPath[]): number[] {
  /** The lines of the values on the paths, by path; undefined for a value that is not found yet. */
  const lines = new Map<string, number | undefined>();
  for (const path of paths)
    for (let length = 0; length <= path.length; length++) lines.set(keyOf(path.slice(0, length)), undefined);
  const setLine = (path: FieldPath, line: number): boolean => {
    const key = keyOf(path);
    if (!lines.has(key)) return false;
    lines.set(key, line);
    return true;
  };
  // Callbacks are called only within containers on a path, because `enter` returns false for the others, which skips them.
  // The line of a value with a key is that of its key.
  const enter = (_offset: number, _length: number, line: number, _character: number, at: () => FieldPath) => {
    const path = at();
    return typeof path.at(-1) === "string" ? lines.has(keyOf(path)) : setLine(path, line + 1);
  };
  const leave = () => {};
  visitUntilStopped(text, {
    onObjectBegin: enter,
    onObjectEnd: leave,
    onArrayBegin: enter,
    onArrayEnd: leave,
    onObjectProperty: (name, _offset, _length, line, _character, at) => {
      const path = [...at(), name];
      if (lines.get(keyOf(path)) !== undefined) forgetInside(lines, path);
      setLine(path, line + 1);
    },
    onLiteralValue: (_value, _offset, _length, line, _character, at) => {
      const path = at();
      if (typeof path.at(-1) === "number") setLine(path, line + 1);
    },
  });
  return paths.map((path) => {
    for (let length = path.length; length >= 0; length--) {
      const line = lines.get(keyOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  });
}

const keyOf = (path: FieldPath): string => JSON.stringify(path);

/** Forgets the lines of the values inside a value whose key is repeated. */
function forgetInside(lines: Map<string, number | undefined>, path: FieldPath): void {
  const start = `${keyOf(path).slice(0, -1)},`;
  for (const key of lines.keys()) if (key.startsWith(start)) lines.set(key, undefined);
}

/** The line (from 1) of an offset in a text. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

// The YAML parser with positions reads about 1 MB a second and needs 200 times the memory of its text. So a larger text is
// narrowed first: its top-level lists are split into items, the fast parser reads groups of items, and the slow parser reads
// only the group with the fault, or the item with the value.

interface YamlFault {
  readonly line: number;
  readonly message: string;
}

const MAX_SEARCHED_LENGTH = 512 * 1024;
const GROUP_LENGTH = 128 * 1024;

/** A part of the text that is a document of its own. `linesBefore` is the offset of its line numbers in the text. */
interface Excerpt {
  readonly text: string;
  readonly linesBefore: number;
}

/** Finds the first fault; undefined when it cannot be found. */
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

/** Finds for each path the line of its value, or of the nearest ancestor; undefined when it cannot be found. */
export function findYamlLines(text: string, paths: readonly FieldPath[]): (number | undefined)[] {
  if (text.length <= MAX_SEARCHED_LENGTH) {
    const parsed = parseWithPositions(text);
    return paths.map((path) => parsed && lineIn(parsed, path));
  }
  const lists = new Map(Array.from(topLevelLists(text), (list) => [list.key, list]));
  const found = paths.map((path) => {
    const [key, index, ...rest] = path;
    const list = lists.get(String(key));
    const start = typeof index === "number" ? list?.starts[index] : undefined;
    if (!list || start === undefined || typeof index !== "number") return undefined;
    return { key: list.key, start, end: list.starts[index + 1] ?? list.end, rest };
  });
  const linesBefore = countLines(
    text,
    found.flatMap((item) => item?.start ?? []),
  );
  return found.map((item) => {
    const parsed = item && parseWithPositions(excerptText(text, item.key, item.start, item.end));
    const line = parsed && lineIn(parsed, [item.key, 0, ...item.rest]);
    // The key of the excerpt adds one line.
    return line === undefined ? undefined : line + (linesBefore.get(item?.start ?? 0) ?? 0) - 1;
  });
}

/** Counts the lines before each offset. Reads the text once. */
function countLines(text: string, offsets: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  let lines = 0;
  let next = text.indexOf("\n");
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    for (; next >= 0 && next < offset; next = text.indexOf("\n", next + 1)) lines++;
    counts.set(offset, lines);
  }
  return counts;
}

interface TopLevelList {
  readonly key: string;
  /** The offset of each item. */
  readonly starts: readonly number[];
  readonly end: number;
}

/** Finds the block lists of the top level. Flow lists (`hosts: [...]`) are not included. */
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

/** The text of an excerpt: the key in a line of its own, then the items. */
const excerptText = (text: string, key: string, start: number, end: number): string =>
  `${key}:\n${text.slice(start, end)}`;

const excerpt = (text: string, key: string, start: number, end: number): Excerpt => ({
  text: excerptText(text, key, start, end),
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
    // The parser throws for hostile nesting only. Then the fault is reported without a line.
    return undefined;
  }
}

function faultIn({ text, linesBefore }: Excerpt): YamlFault | undefined {
  const parsed = parseWithPositions(text);
  const first = parsed?.document.errors[0];
  if (!parsed || !first) return undefined;
  return { line: linesBefore + parsed.lineCounter.linePos(first.pos[0]).line, message: first.message };
}

type Positions = NonNullable<ReturnType<typeof parseWithPositions>>;

function lineIn({ document, lineCounter }: Positions, path: FieldPath): number {
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
