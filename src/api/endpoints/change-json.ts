/** The JSON of a change, which is the same in an event of a stream and in the body of `since`. */
import type { ResourceChange } from "../../query/changes.ts";
import type { Dialect } from "../onos/dialect.ts";

/** A change of an entity or of a problem. */
export interface ShownChange extends Omit<ResourceChange, "resource" | "id"> {
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
  { resource, value, changed, event }: ShownChange,
  revision: number,
  time: number,
): string {
  const changedMember = event === "updated" ? `,"changed":${JSON.stringify(changed)}` : "";
  return `"resource":"${resource}","revision":${revision},"time":${time},"value":${value}${changedMember}`;
}
