/**
 * From a YAML file and flags to the one immutable Config the service is made from. A flag stands above the same key of
 * the file; `--demo`, `--file` and `--alias` add to the file's lists. Relative paths are taken from the folder the
 * service is started in, wherever the file is.
 */
import { readFileSync } from "node:fs";
import Value from "typebox/value";
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { type CommandFailure, reasonOf, usageFailure } from "../cli/failure.ts";
import { type ConfigFault, faultsOf, type KeyPath, shownPath } from "./faults.ts";
import { type Config, Configuration } from "./schema.ts";

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The content of a configuration file: whatever was right in it, and a line for everything that was not. */
export interface ConfigFile {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
  /** Where in the file something is: `gazetteer.yaml:12`. */
  place(path: KeyPath, atKey?: boolean): string;
}

export function readConfigFile(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw usageFailure(`the configuration cannot be read: ${reasonOf(error)}`, error);
  }
  if (text.length > MAX_FILE_BYTES) throw usageFailure(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
  return parseConfig(text, path);
}

export function parseConfig(text: string, file: string): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const place = (path: KeyPath, atKey = false) => at(offsetOf(document, path, atKey));
  const broken = document.errors.map((error) => `${at(error.pos[0])}: ${error.message}`);
  if (broken.length > 0) return { values: {}, faults: broken, place };
  let values: unknown;
  try {
    values = document.toJS() ?? {};
  } catch (error) {
    return { values: {}, faults: [`${file}: ${reasonOf(error)}`], place };
  }
  const found = faultsOf(Configuration, values);
  const faults = found.map((fault) => `${place(fault.path, fault.atKey)}: ${sentence(fault)}`);
  return { values: faults.length === 0 && isRecord(values) ? values : {}, faults, place };
}

/** One line, as every reason not to start is; `gazetteer check` shows the rest. */
export function faultyConfig([first = "", ...more]: readonly string[]): CommandFailure {
  return usageFailure(
    more.length === 0 ? first : `${first} (and ${more.length} more: gazetteer check lists them)`,
  );
}

/** Puts flags above the file's values and defaults below them. */
export function composeConfig(
  file: Readonly<Record<string, unknown>>,
  flags: Readonly<Record<string, unknown>>,
): Config {
  // A section that is only comments in the file is as good as not there.
  const given = Object.entries({ ...file, ...flags }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  const values = Value.Default(Configuration, structuredClone(Object.fromEntries(given)));
  const [fault] = faultsOf(Configuration, values);
  if (fault) throw usageFailure(`--${flagFor(fault.path)} ${fault.message}`);
  if (!Value.Check(Configuration, values)) throw usageFailure("the configuration is not valid");
  return deepFreeze(values);
}

/** The file was checked before, so whatever is wrong now came with a flag. */
function flagFor([key, ...rest]: KeyPath): string {
  const flags: Readonly<Record<string, string>> = { aliases: "alias", logLevel: "log-level" };
  return flags[String(key)] ?? shownPath([String(key), ...rest]);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sentence = ({ path, message }: ConfigFault) =>
  `${shownPath(path)}${path.length > 0 ? ": " : ""}${message}`;

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const inside of Object.values(value)) deepFreeze(inside);
  return Object.freeze(value);
}

/** Where the value at a path begins, or its key; of what is not there, where the nearest thing around it does. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: KeyPath, atKey: boolean): number {
  for (let length = path.length; length > 0; length--) {
    const inner = path.slice(0, length);
    const parent: unknown = length === 1 ? document.contents : document.getIn(inner.slice(0, -1), true);
    if (isMap(parent)) {
      const pair = parent.items.find(
        ({ key }) => isScalar(key) && String(key.value) === String(inner.at(-1)),
      );
      const node = atKey || !isNode(pair?.value) ? pair?.key : pair.value;
      if (isNode(node) && node.range) return node.range[0];
    }
    const node: unknown = document.getIn(inner, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "range" in value;
