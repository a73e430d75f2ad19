/** The representation of `incident`: the nearest incident before or after the moment of `at`. */
import type { Steps } from "../../lib/steps.ts";
import { type Direction, findIncident } from "../../query/incidents.ts";
import type { Query } from "../../query/query.ts";
import { resolveRevisionOrTime } from "../../query/revision.ts";
import { throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import type { ReadContext } from "./read-context.ts";

export function* incidentRepresentation(
  { history, view, log }: ReadContext,
  query: Query,
  direction: Direction,
  contentType: string,
): Steps<Representation> {
  const from =
    query.at === undefined ? view.revision : throwIfFault(resolveRevisionOrTime(history, "at", query.at));
  const { revision } = view;
  // The history may be cut without a new revision.
  const { oldest } = log.stats();
  const found = yield* findIncident(history, direction, from);
  const info = {
    key: `incident ${direction} ${from} ${oldest}`,
    version: revision,
    tagIsVersion: true,
    revision,
    contentType,
  };
  return {
    info,
    render() {
      return { chunks: JSON.stringify(found) };
    },
  };
}
