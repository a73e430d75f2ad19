/**
 * Lines in a JSON text, found with jsonc-parser. `JSON.parse` reads the files, because it is much faster, but it reports
 * no line. So the text is scanned again, only once it has a fault. Strict JSON: no comments, no trailing commas.
 */
import { type JSONVisitor, type ParseOptions, printParseErrorCode, visit } from "jsonc-parser";

/** Keys and indexes from the root to a value. */
export type FieldPath = readonly (string | number)[];

export interface JsonFault {
  readonly line: number;
  readonly message: string;
}

const STRICT_JSON: ParseOptions = { disallowComments: true, allowTrailingComma: false };
/** Deeper than any valid record. The parser is recursive, so hostile nesting would exhaust the stack. */
const MAX_DEPTH = 64;
const MAX_QUOTED_LENGTH = 40;
/** Thrown by a visitor: `visit` cannot be stopped in another way. */
const STOP = new Error("stop");

function visitUntilStopped(text: string, visitor: JSONVisitor): void {
  try {
    visit(text, visitor, STRICT_JSON);
  } catch (error) {
    // A RangeError is the stack limit.
    if (error !== STOP && !(error instanceof RangeError)) throw error;
  }
}

/** The first fault in the text, or undefined when it is JSON. */
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

/** A value on one of the paths that are looked for. */
interface Sought {
  readonly children: Map<string | number, Sought>;
  line: number | undefined;
}

const createSought = (): Sought => ({ children: new Map(), line: undefined });

function forget(sought: Sought): void {
  sought.line = undefined;
  for (const child of sought.children.values()) forget(child);
}

/**
 * For each path the line of its value, or of the nearest ancestor when there is no such value. Of a repeated key the last
 * one counts, as in `JSON.parse`.
 */
export function findJsonLines(text: string, paths: readonly FieldPath[]): number[] {
  const root = createSought();
  for (const path of paths) {
    let at = root;
    for (const step of path) {
      const next = at.children.get(step) ?? createSought();
      at.children.set(step, next);
      at = next;
    }
  }
  const soughtAt = (path: FieldPath): Sought | undefined => {
    let at: Sought | undefined = root;
    for (const step of path) at = at?.children.get(step);
    return at;
  };
  // Callbacks are called only within containers on a path: `enter` returns false for the others, which skips them.
  const enter = (
    _offset: number,
    _length: number,
    startLine: number,
    _character: number,
    at: () => FieldPath,
  ) => {
    const path = at();
    const sought = soughtAt(path);
    if (!sought) return false;
    if (typeof path.at(-1) !== "string") sought.line = startLine + 1;
    return sought.children.size > 0;
  };
  const leave = () => {};
  visitUntilStopped(text, {
    onObjectBegin: enter,
    onObjectEnd: leave,
    onArrayBegin: enter,
    onArrayEnd: leave,
    onObjectProperty: (key, _offset, _length, startLine, _character, at) => {
      const sought = soughtAt(at())?.children.get(key);
      if (!sought) return;
      forget(sought);
      sought.line = startLine + 1;
    },
    onLiteralValue: (_value, _offset, _length, startLine, _character, at) => {
      const path = at();
      const sought = typeof path.at(-1) === "number" ? soughtAt(path) : undefined;
      if (sought) sought.line = startLine + 1;
    },
  });
  return paths.map((path) => {
    let at: Sought | undefined = root;
    let line = root.line ?? 1;
    for (const step of path) {
      at = at?.children.get(step);
      line = at?.line ?? line;
    }
    return line;
  });
}

/** The line (from 1) of an offset in a text. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}
