/** The representation of `count`: how many hosts are located at each device. Without a filter the state has the counts. */
import { type Steps, sortInSteps } from "../../lib/steps.ts";
import { type FilteredState, filterState } from "../../query/filtered-state.ts";
import { selectEntities } from "../../query/missing.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { parseStored } from "../../view/view.ts";
import { throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import { jsonList } from "./json-list.ts";
import { listVersions, versionOf } from "./list.ts";
import type { RequestContext } from "./read-context.ts";

export function* countsRepresentation(
  { history, view, memory, dialect }: RequestContext,
  query: Query,
  contentType: string,
): Steps<Representation> {
  const state = throwIfFault(yield* resolveState(history, query));
  memory.hold(state);
  const filtered = throwIfFault(yield* filterState(state, query));
  const { resolved } = filtered;
  const info = {
    key: `${dialect.keyPrefix}counts ${query.fingerprint}${resolved}`,
    ...listVersions(view, "hosts", query, versionOf(state, "hosts", query), filtered),
    revision: state.revision,
    contentType,
  };
  return {
    info,
    *render() {
      const { counts, total } = yield* countHosts(filtered);
      // In order of id, so that all nodes and processes send the same bytes.
      const sorted = yield* sortInSteps([...counts.entries()], ([a], [b]) => (a < b ? -1 : 1));
      return { chunks: jsonList('{"counts":{', members(sorted), `},"total":${total}}`) };
    },
  };
}

interface Counted {
  readonly counts: { entries(): Iterable<[device: string, count: number]> };
  readonly total: number;
}

function* countHosts(filtered: FilteredState): Steps<Counted> {
  const { state, filters, includesMissing } = filtered;
  if (filters("hosts").length === 0 && !includesMissing)
    return { counts: (yield* state.hostCounts()).located, total: state.size("hosts") };
  const counts = new Map<string, number>();
  let total = 0;
  for (const item of selectEntities(filtered, "hosts")) {
    if (item === undefined) {
      yield;
      continue;
    }
    total++;
    const { locations } = parseStored("hosts", item.text);
    for (const device of new Set(locations.map(({ elementId }) => elementId)))
      counts.set(device, (counts.get(device) ?? 0) + 1);
  }
  return { counts, total };
}

const MEMBERS_PER_STEP = 256;

function* members(
  counts: readonly (readonly [device: string, count: number])[],
): Generator<string | undefined, void, void> {
  let left = MEMBERS_PER_STEP;
  for (const [device, count] of counts) {
    yield `${JSON.stringify(device)}:${count}`;
    if (--left > 0) continue;
    left = MEMBERS_PER_STEP;
    yield undefined;
  }
}
