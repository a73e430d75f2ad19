/**
 * The configuration file: YAML in, checked values out, with the line of every fault. A file with any fault has no
 * values. The parsed document is held so that later checks (of the sources) can report a line too.
 */
import { readFileSync } from "node:fs";
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { errorMessage } from "../lib/error-message.ts";
import { type ConfigFault, type FilePosition, findSchemaFaults, type KeyPath } from "./faults.ts";
import { Configuration } from "./schema.ts";

const MAX_FILE_CHARACTERS = 4 * 1024 * 1024;

export interface ConfigFile {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly ConfigFault[];
  /** Of the value at `path`, or of the nearest enclosing one. Undefined when there is no file. */
  position(path: KeyPath): FilePosition | undefined;
}

/** Stands for the file when none is given. */
export const NO_FILE: ConfigFile = { values: {}, faults: [], position: () => undefined };

export function readConfigFile(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return unreadable(`the configuration cannot be read: ${errorMessage(error)}`);
  }
  if (text.length > MAX_FILE_CHARACTERS) {
    return unreadable(`${path} is larger than ${MAX_FILE_CHARACTERS} bytes`);
  }
  return parseConfigFile(text, path);
}

const unreadable = (message: string): ConfigFile => ({ ...NO_FILE, faults: [{ path: [], message }] });

export function parseConfigFile(text: string, file: string): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const positionAt = (offset: number): FilePosition => ({ file, line: lines.linePos(offset).line });
  const position = (path: KeyPath) => positionAt(offsetOf(document, path, false));
  const failed = (faults: ConfigFault[]): ConfigFile => ({ values: {}, faults, position });

  if (document.errors.length > 0) {
    return failed(
      document.errors.map(({ pos, message }) => ({ position: positionAt(pos[0]), path: [], message })),
    );
  }
  let values: unknown;
  try {
    values = document.toJS() ?? {};
  } catch (error) {
    return failed([{ position: { file }, path: [], message: errorMessage(error) }]);
  }
  const faults = findSchemaFaults(Configuration, values);
  if (faults.length === 0 && isRecord(values)) return { values, faults: [], position };
  return failed(
    faults.map(({ path, message, atKey = false }) => ({
      position: positionAt(offsetOf(document, path, atKey)),
      path,
      message,
    })),
  );
}

/** Offset of the value at `path` or of its key; when it is absent, of the nearest enclosing value. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: KeyPath, atKey: boolean): number {
  for (let length = path.length; length > 0; length--) {
    const prefix = path.slice(0, length);
    const parent: unknown = length === 1 ? document.contents : document.getIn(prefix.slice(0, -1), true);
    if (isMap(parent)) {
      const pair = parent.items.find(
        ({ key }) => isScalar(key) && String(key.value) === String(prefix.at(-1)),
      );
      const node = atKey || !isNode(pair?.value) ? pair?.key : pair.value;
      if (isNode(node) && node.range) return node.range[0];
    }
    const node: unknown = document.getIn(prefix, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "range" in value;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
