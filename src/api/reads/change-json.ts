/** The JSON of a change, the same in an event of a stream and in the body of `since`. */
import type { Change } from "../../query/changes.ts";

/** The members of the object, without its braces: `since` puts `event` before them. */
export function changeMembers(
  { resource, value, changed, event }: Change,
  revision: number,
  time: number,
): string {
  const changedMember = event === "updated" ? `,"changed":${JSON.stringify(changed)}` : "";
  return `"resource":"${resource}","revision":${revision},"time":${time},"value":${value}${changedMember}`;
}
