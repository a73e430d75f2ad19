/**
 * Parses the operands of `gazetteer get`: a resource, a path below it, and query parameters. Operands without `=` after
 * the resource are the segments of the path: `devices ID`, `devices ID ports`, `topology clusters 0 links`.
 */
import type { Query } from "../client/types.ts";
import { formatsOf } from "../formats/formats.ts";
import { type ListedResource, parseQuery, parseResource } from "./client-command.ts";
import { usageFailure } from "./command.ts";

export interface ReadTarget {
  readonly resource: ListedResource;
  /** The path below `/controller/v1/`, with encoded segments. */
  readonly path: string;
  readonly query: Query;
  /** The id when a single entity is read. */
  readonly id: string | undefined;
  /** The member of the body that holds the list; undefined when the body is not a list. */
  readonly listKey: string | undefined;
  /** The names of the formats in which the service can send it. */
  readonly formats: readonly string[];
}

/** The formats of a single entity and of the paths below it: only JSON. */
const ITEM_FORMATS: readonly string[] = ["json"];

export function parseReadTarget(operands: readonly string[]): ReadTarget {
  const [name, ...rest] = operands;
  const resource = parseResource(name);
  const firstParameter = rest.findIndex((operand) => operand.includes("="));
  const segments = firstParameter < 0 ? rest : rest.slice(0, firstParameter);
  const query = parseQuery(firstParameter < 0 ? [] : rest.slice(firstParameter));
  const [first, ...below] = segments;
  if (first === undefined) return listTarget(resource, resource, query);
  if (first === "") throw usageFailure("an id may not be empty");
  const path = [resource, ...segments].map(encodeURIComponent).join("/");
  if (path === "devices/ports") return { ...listTarget("devices", "ports", query), path };
  const id = resource !== "topology" && below.length === 0 ? first : undefined;
  return { resource, path, query, id, listKey: undefined, formats: ITEM_FORMATS };
}

function listTarget(resource: ListedResource, kind: ListedResource | "ports", query: Query): ReadTarget {
  const formats = formatsOf(kind)
    .filter((format) => !format.stream)
    .map((format) => format.name);
  const listKey = kind === "topology" ? undefined : kind;
  return { resource, path: resource, query, id: undefined, listKey, formats };
}
