/** The representation of `timeline`: how many changes there were in equal spans of time. */

import type { Query } from "../../query/query.ts";
import { resolveTimeline } from "../../query/timeline.ts";
import { throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import type { ReadContext } from "./read-context.ts";

export function timelineRepresentation(
  { history, log }: ReadContext,
  query: Query,
  contentType: string,
): Representation {
  const { from, to, spans, oldest, loaded, newest } = throwIfFault(resolveTimeline(history, query));
  const info = {
    key: `timeline ${from} ${to} ${oldest.revision} ${query.fingerprint}`,
    version: newest.revision,
    tagIsVersion: true,
    revision: newest.revision,
    contentType,
  };
  return {
    info,
    render() {
      return {
        chunks: JSON.stringify({ from, to, counts: log.histogram(from, to, spans), oldest, loaded, newest }),
      };
    },
  };
}
