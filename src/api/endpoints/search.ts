/** The representation of a search: the best hits, which are devices and hosts. */
import Type from "typebox";
import { HITS_FORMAT } from "../../formats/formats.ts";
import type { Steps } from "../../lib/steps.ts";
import { badParameter } from "../../query/fault.ts";
import { parameterSet } from "../../query/parameters.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import { MAX_HITS, parseSearch, searchState } from "../../query/search.ts";
import { searchChangedAt } from "../../view/search-index.ts";
import { HOST } from "../openapi/example-network.ts";
import { problemOf } from "../response/problem.ts";
import type { Representation } from "../response/representation.ts";
import { AnyEntity } from "./changes.ts";
import { type Endpoint, ITEM_PARAMETERS, matchExactly } from "./endpoint.ts";
import type { RequestContext } from "./read-context.ts";
import { versionsOf } from "./versions.ts";

const DEFAULT_HITS = 20;

const Hits = Type.Object(
  {
    hits: Type.Array(
      Type.Object(
        { resource: Type.Enum(["devices", "hosts"], { $id: "HitResource" }), value: AnyEntity },
        { $id: "Hit" },
      ),
      { description: "Best first." },
    ),
    complete: Type.Boolean({ description: "Whether these are all." }),
  },
  { $id: "Hits" },
);

export const search: Endpoint<object> = {
  id: "search",
  tag: "Topology",
  summary: "Search",
  description:
    "Devices and hosts by the beginnings of words of names, ids, MAC and IP addresses and serial numbers, or by a CIDR block; best first.",
  readName: "search",
  path: "/topology/search",
  match: matchExactly("topology", "search"),
  parameters: parameterSet([...ITEM_PARAMETERS, "q", "limit"]),
  maxLimit: () => MAX_HITS,
  variants: [
    {
      formats: [HITS_FORMAT],
      schema: Hits,
      example: { hits: [{ resource: "hosts", value: HOST }], complete: true },
      read: (context, _params, query) => searchRepresentation(context, query),
    },
  ],
  openapi: {
    parameters: {
      q: {
        component: "SearchText",
        description: "What to search for: the beginning of one or more words, an address, or a CIDR block.",
        schema: { type: "string", minLength: 1 },
        required: true,
      },
      limit: {
        component: "SearchLimit",
        description: "The maximum number of hits; 20 without it.",
        schema: { type: "integer", minimum: 1, maximum: MAX_HITS },
      },
    },
  },
};

function* searchRepresentation(
  { history, view, memory, dialect, revisions }: RequestContext,
  query: ParsedQuery,
): Steps<Representation> {
  const text = query.text?.trim() ?? "";
  if (text === "")
    throw problemOf(badParameter("q", "is missing or empty; give what to search for, as q=TEXT."));
  const state = yield* stateAt(history, revisions.at);
  memory.hold(state);
  const limit = query.limit ?? DEFAULT_HITS;
  return {
    info: {
      key: `${dialect.keyPrefix}search ${limit} ${query.fingerprint}`,
      ...versionsOf(view, state, query, searchChangedAt),
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
