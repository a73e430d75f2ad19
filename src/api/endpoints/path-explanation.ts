/**
 * The explanation of paths (`explain=true`). Ids of the union are rendered one by one: in a large network there may be as
 * many as there are links.
 */
import { PATH_EXPLANATION_FORMAT } from "../../formats/formats.ts";
import { mapPaced, type Paced, pausing, type Steps } from "../../lib/steps.ts";
import { MAX_PATH_COUNT } from "../../model/path-explanation.ts";
import { explainPaths, type FoundPaths, findPaths, isParted } from "../../query/explain-paths.ts";
import { badParameter } from "../../query/fault.ts";
import type { LostLink } from "../../query/problems/recent-changes.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import type { View } from "../../view/view.ts";
import { problemOf, throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import { jsonList } from "./json-list.ts";
import { followPaths, type PathsRoute, pathsChangedAt } from "./paths.ts";
import type { RequestContext } from "./read-context.ts";

const IDS_PER_STEP = 500;

export function* pathExplanationRepresentation(
  context: RequestContext,
  route: PathsRoute,
  query: Query,
): Steps<Representation> {
  if (route.disjoint) throw problemOf(badParameter("explain", "does not exist for disjoint paths."));
  for (const name of ["limit", "cursor"] as const)
    if (query[name] !== undefined) throw problemOf(badParameter(name, "cannot be used with explain=true."));
  const isCurrent = query.at === undefined;
  const { found, lost } = yield* isCurrent ? findNow(context, route, query) : findThen(context, route, query);
  const { state } = found;
  const { view, memory } = context;
  memory.hold(state);
  // Which links count as lost depends on the time of the revision.
  const follows = isParted(found) ? followRevision : followPaths;
  return {
    info: {
      key: `paths explained ${JSON.stringify([route.src, route.dst])} ${query.fingerprint}`,
      version: isCurrent && !isParted(found) ? pathsChangedAt(state.versions) : state.revision,
      ...(isCurrent && { currentVersion: follows(view) }),
      revision: state.revision,
      contentType: PATH_EXPLANATION_FORMAT.contentType,
    },
    *render() {
      const { head, count, union } = yield* explainPaths(found, lost, context.problems.finder);
      const shown = count < MAX_PATH_COUNT ? count : MAX_PATH_COUNT;
      const open = `${JSON.stringify(head).slice(0, -1)},"count":${shown},"devices":[`;
      return { chunks: unionChunks(open, union) };
    },
  };
}

const followRevision = (view: View) => (): number => view.revision;

interface Found {
  readonly found: FoundPaths;
  readonly lost: readonly LostLink[];
}

/**
 * Where there is no path, the links that were removed are those of the list of problems, which is kept up to date. That may
 * be of a later revision by now, and so is then the explanation.
 */
function* findNow(
  { history, view, problems }: RequestContext,
  route: PathsRoute,
  { acceptsNames }: Query,
): Steps<Found> {
  const found = throwIfFault(yield* findPaths(view.capture(), route, acceptsNames));
  if (!isParted(found)) return { found, lost: [] };
  const { revision, removed } = yield* problems.newest();
  if (revision === found.state.revision) return { found, lost: removed };
  const then = yield* findPaths(yield* history.stateAt(revision), route, acceptsNames);
  return { found: throwIfFault(then), lost: removed };
}

function* findThen(
  { history, problems, memory }: RequestContext,
  route: PathsRoute,
  query: Query,
): Steps<Found> {
  const state = throwIfFault(yield* resolveState(history, query));
  const found = throwIfFault(yield* findPaths(state, route, query.acceptsNames));
  if (!isParted(found)) return { found, lost: [] };
  const lost = yield* problems.removedBefore(found.state);
  memory.add(lost.length * LINK_BYTES);
  return { found, lost };
}

/** What a link that was removed takes in memory. */
const LINK_BYTES = 1000;

function* unionChunks(
  open: string,
  { devices, links }: { readonly devices: readonly string[]; readonly links: readonly { id: string }[] },
): Generator<Uint8Array | undefined, void, void> {
  yield* jsonList(open, jsonTexts(devices), '],"links":[');
  yield* jsonList("", jsonTexts(links.map(({ id }) => id)), "]}");
}

const jsonTexts = (ids: readonly string[]): Paced<string> =>
  mapPaced(pausing(ids, IDS_PER_STEP), (id) => JSON.stringify(id));
