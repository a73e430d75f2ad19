/**
 * Encodes JSON and other text as chunks of bytes, so that a body is never completely in memory and items need no separate
 * writes. Pauses are passed on.
 */
import { mapPaced, type Paced } from "../../lib/steps.ts";
import type { ResourceChange } from "../../query/changes.ts";
import type { Dialect } from "../onos/dialect.ts";

const CHUNK_CHARS = 65_536;
const encoder = new TextEncoder();

export function* jsonList(
  open: string,
  items: Paced<string>,
  close: string,
): Generator<Uint8Array | undefined, void, void> {
  let chunk = open;
  let comma = "";
  for (const item of items) {
    if (item === undefined) {
      yield undefined;
      continue;
    }
    chunk += comma + item;
    comma = ",";
    if (chunk.length < CHUNK_CHARS) continue;
    yield encoder.encode(chunk);
    chunk = "";
  }
  yield encoder.encode(chunk + close);
}

export const encodeChunks = (chunks: Paced<string>): Paced<Uint8Array> =>
  mapPaced(chunks, (chunk) => encoder.encode(chunk));

/** A change of an entity or of a problem. */
export interface StreamedChange extends Omit<ResourceChange, "resource" | "id"> {
  readonly resource: string;
}

/** The change in a dialect; undefined if it only changes fields that the dialect does not have. */
export function changeIn<C extends ResourceChange>(dialect: Dialect, change: C): C | undefined {
  const { event, resource, value } = change;
  const fields = dialect.fields(resource);
  if (!fields) return change;
  const changed = change.changed.filter((field) => fields.includes(field));
  if (event === "updated" && changed.length === 0) return undefined;
  return { ...change, value: dialect.entity(resource, value), changed };
}

/** The members of the object without its braces, because `since` puts `event` before them. */
export function changeMembers(
  { resource, value, changed, event }: StreamedChange,
  revision: number,
  time: number,
): string {
  const changedMember = event === "updated" ? `,"changed":${JSON.stringify(changed)}` : "";
  return `"resource":"${resource}","revision":${revision},"time":${time},"value":${value}${changedMember}`;
}
