/**
 * The topic of a stream: the kinds, filters and dialect of its request. Streams with the same topic receive the same records
 * from the same position.
 */

import type { Kind } from "../../model/ids.ts";
import { changeScope } from "../../query/changes.ts";
import type { ParsedQuery } from "../../query/query.ts";
import type { History } from "../../view/history.ts";
import type { RequestContext } from "../endpoints/read-context.ts";
import type { Dialect } from "../onos/dialect.ts";

export interface StreamTopic {
  /** A text that is equal for two topics exactly if they are the same. */
  readonly key: string;
  readonly kind: Kind | undefined;
  readonly scope: readonly Kind[];
  readonly query: ParsedQuery;
  readonly dialect: Dialect;
  readonly history: History;
}

export function streamTopicOf(
  { dialect, history }: Pick<RequestContext, "dialect" | "history">,
  kind: Kind | undefined,
  query: ParsedQuery,
): StreamTopic {
  const missing = query.includesMissing ? "with missing " : "";
  const key = `${dialect.keyPrefix}${missing}${kind ?? "topology"} ${selectionOf(query)}`;
  return { key, kind, scope: changeScope(kind), query, dialect, history };
}

/** The fingerprint of the query without the parameters that do not select entities, which have no escaped characters. */
export const selectionOf = ({ fingerprint }: ParsedQuery): string =>
  fingerprint
    .split("&")
    .filter((part) => !part.startsWith("since=") && !part.startsWith("format="))
    .join("&");
