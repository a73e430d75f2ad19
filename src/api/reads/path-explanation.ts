/**
 * The explanation of paths (`explain=true`). Ids of the union are rendered one by one: in a large network there may be as
 * many as there are links.
 */
import { PATH_EXPLANATION_FORMAT } from "../../formats/formats.ts";
import { mapPaced, type Paced, pausing, type Steps } from "../../lib/steps.ts";
import { explainPaths } from "../../query/explain-paths.ts";
import { badParameter } from "../../query/fault.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { problemOf, throwIfFault } from "../query-problem.ts";
import type { Representation } from "../representation.ts";
import { jsonList } from "./json-list.ts";
import { followPaths, type PathsRoute, pathsChangedAt } from "./paths.ts";
import type { RequestContext } from "./read-context.ts";

const IDS_PER_STEP = 500;

export function* pathExplanationRepresentation(
  { history, view, memory }: RequestContext,
  route: PathsRoute,
  query: Query,
): Steps<Representation> {
  if (route.disjoint) throw problemOf(badParameter("explain", "does not exist for disjoint paths."));
  for (const name of ["limit", "cursor"] as const)
    if (query[name] !== undefined) throw problemOf(badParameter(name, "cannot be used with explain=true."));
  const state = throwIfFault(yield* resolveState(history, query));
  memory.hold(state);
  const isCurrent = query.at === undefined;
  const version = isCurrent ? pathsChangedAt(state.versions) : state.revision;
  return {
    info: {
      key: `paths explained ${JSON.stringify([route.src, route.dst])} ${query.fingerprint}`,
      version,
      ...(isCurrent && { currentVersion: followPaths(view) }),
      revision: state.revision,
      contentType: PATH_EXPLANATION_FORMAT.contentType,
    },
    *render() {
      const count = (bytes: number) => memory.add(bytes);
      const explained = yield* explainPaths(history, state, route.src, route.dst, count);
      const { head, union } = explained;
      const open = `${JSON.stringify(head).slice(0, -1)},"count":${explained.count},"devices":[`;
      return { chunks: unionChunks(open, union) };
    },
  };
}

function* unionChunks(
  open: string,
  { devices, links }: { readonly devices: readonly string[]; readonly links: readonly { id: string }[] },
): Generator<Uint8Array | undefined, void, void> {
  yield* jsonList(open, jsonTexts(devices), '],"links":[');
  yield* jsonList("", jsonTexts(links.map(({ id }) => id)), "]}");
}

const jsonTexts = (ids: readonly string[]): Paced<string> =>
  mapPaced(pausing(ids, IDS_PER_STEP), (id) => JSON.stringify(id));
