/**
 * The explanation of one entity (`explain=true`). It is rendered from collections that are not public, so that a reader
 * process relays it to the main process.
 */
import { EXPLANATION_FORMAT } from "../../formats/formats.ts";
import type { Steps } from "../../lib/steps.ts";
import type { CollectionVersions } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { explainEntity } from "../../view/explain.ts";
import type { View } from "../../view/view.ts";
import { throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import { noEntity } from "./item.ts";
import type { RequestContext } from "./read-context.ts";
import type { Route } from "./route.ts";

export function* explanationRepresentation(
  { history, view, dialect }: RequestContext,
  { kind, id }: Extract<Route, { read: "item" }>,
  query: Query,
): Steps<Representation> {
  history.requireAllCollections();
  const state = throwIfFault(yield* resolveState(history, query));
  const explanation =
    explainEntity(state, kind, id) ?? explainEntity(state, kind, state.shownId(kind, id, true));
  if (!explanation) throw noEntity(state, { kind, id }, dialect);
  const json = JSON.stringify(explanation);
  return {
    info: {
      key: `explanation ${query.fingerprint} ${kind} ${id}`,
      version: versionOf(state.versions, kind),
      ...(query.at === undefined && { currentVersion: followVersion(view, kind) }),
      revision: state.revision,
      contentType: EXPLANATION_FORMAT.contentType,
    },
    render() {
      return { chunks: json };
    },
  };
}

const followVersion = (view: View, kind: Kind) => (): number => versionOf(view.versions, kind);

/** The revision that last changed a collection that explanations of this kind are made from. */
const versionOf = ({ claims, missing, settings, ...versions }: CollectionVersions, kind: Kind): number =>
  Math.max(versions[kind], versions.devices, claims, missing, settings);
