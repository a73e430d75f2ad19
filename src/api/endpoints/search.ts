/** The representation of a search: the best hits, each a device or host. */
import { HITS_FORMAT } from "../../formats/formats.ts";
import type { Steps } from "../../lib/steps.ts";
import { badParameter } from "../../query/fault.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { parseSearch, searchState } from "../../query/search.ts";
import { searchChangedAt } from "../../view/search-index.ts";
import type { View } from "../../view/view.ts";
import { problemOf, throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import type { RequestContext } from "./read-context.ts";

const DEFAULT_HITS = 20;

export function* searchRepresentation(
  { history, view, memory, dialect }: RequestContext,
  query: Query,
): Steps<Representation> {
  const text = query.text?.trim() ?? "";
  if (text === "")
    throw problemOf(badParameter("q", "is missing or empty; give what to search for, as q=TEXT."));
  const state = throwIfFault(yield* resolveState(history, query));
  memory.hold(state);
  const isCurrent = query.at === undefined;
  const limit = query.limit ?? DEFAULT_HITS;
  return {
    info: {
      key: `${dialect.keyPrefix}search ${limit} ${query.fingerprint}`,
      version: isCurrent ? searchChangedAt(state.versions) : state.revision,
      ...(isCurrent && { currentVersion: followVersion(view) }),
      revision: state.revision,
      contentType: HITS_FORMAT.contentType,
    },
    *render() {
      const { hits, complete } = yield* searchState(state, parseSearch(text), limit);
      const items = hits.map(
        ({ kind, text: json }) => `{"resource":"${kind}","value":${dialect.entity(kind, json)}}`,
      );
      return { chunks: `{"hits":[${items.join(",")}],"complete":${complete}}` };
    },
  };
}

const followVersion = (view: View) => (): number => searchChangedAt(view.versions);
