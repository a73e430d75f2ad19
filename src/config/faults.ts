/**
 * Faults of a configuration as values: a message, the key, and the place where the value was set. A check reports all faults
 * at once. Callers decide what to do with them: `gazetteer check` lists all, `gazetteer serve` shows the first.
 */
import { formatPath, type KeyPath } from "../lib/schema-faults.ts";

export interface FilePosition {
  readonly file: string;
  /** Line number from 1, like `column`; both are absent when the fault concerns the file as a whole. */
  readonly line?: number;
  readonly column?: number;
}

/** The place where a value was set. */
export type SettingOrigin = (
  | { readonly kind: "default" }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "flag"; readonly name: string }
  | { readonly kind: "file"; readonly file: PositionSource; readonly path: KeyPath }
) & {
  /** Returns the path as it was written. Set where ignored entries of lists were dropped from the value. */
  readonly originalPath?: (path: KeyPath) => KeyPath;
};

export interface PositionSource {
  /** The position of the value at `path` or, with `atKey`, of its key; when it is absent, of the nearest enclosing value. */
  position(path: KeyPath, atKey?: boolean): FilePosition;
}

export interface ConfigFault {
  /** The origin of the faulty value; absent when the fault belongs to no value, as with a file that cannot be read. */
  readonly origin?: SettingOrigin;
  /** The path within the value of the origin; empty when the fault concerns the value as a whole. */
  readonly path: KeyPath;
  readonly message: string;
  /** Set when the key itself is wrong, not its value. */
  readonly atKey?: true;
}

/** Renders `gazetteer.yaml:12:5: limits.pageLimit: MESSAGE`, `--port: MESSAGE` or `GAZETTEER_PORT: MESSAGE`. */
export function renderFault({ origin, path, message, atKey }: ConfigFault): string {
  const checkedPath = origin?.kind === "file" ? [...origin.path, ...path] : path;
  const fullPath = origin?.originalPath?.(checkedPath) ?? checkedPath;
  const place =
    origin?.kind === "file"
      ? formatPosition(origin.file.position(fullPath, atKey))
      : origin && renderOrigin(origin);
  return [place, formatPath(fullPath), message].filter((part) => part).join(": ");
}

/** Renders `default`, `gazetteer.yaml:3:7`, `GAZETTEER_PORT` or `--port`. */
export function renderOrigin(origin: SettingOrigin): string {
  if (origin.kind === "default") return "default";
  return origin.kind === "file" ? formatPosition(origin.file.position(origin.path)) : origin.name;
}

export const formatPosition = ({ file, line, column }: FilePosition): string =>
  [file, line, column].filter((part) => part !== undefined).join(":");
