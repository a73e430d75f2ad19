/**
 * What the operands of `gazetteer get` name: a resource, what is below it, and query parameters. Operands without `=`
 * after the resource are the segments of the path: `devices ID`, `devices ID ports`, `topology clusters 0 links`. A
 * link has no path of its own, so its id is a filter.
 */
import type { Query } from "../client/types.ts";
import { formatsOf } from "../formats/formats.ts";
import { type ListedResource, parseQuery, parseResource } from "./client-command.ts";
import { usageFailure } from "./failure.ts";

export interface ReadTarget {
  readonly resource: ListedResource;
  /** Below `/controller/v1/`, with encoded segments. */
  readonly path: string;
  readonly query: Query;
  /** The id of the one entity that is read. */
  readonly id: string | undefined;
  /** The member of the body that holds the list; undefined when the body is not a list. */
  readonly listKey: string | undefined;
  /** Names of the formats that the service has of it. */
  readonly formats: readonly string[];
}

/** A single entity and what is below it exist as JSON only. */
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
  if (resource === "links") {
    if (below.length > 0)
      throw usageFailure(`there is nothing below a link, such as ${JSON.stringify(below[0])}`);
    if (query.id !== undefined) throw usageFailure("the id is given twice");
    const list = listTarget("links", "links", { ...query, id: first });
    return { ...list, id: first, formats: ITEM_FORMATS };
  }
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
