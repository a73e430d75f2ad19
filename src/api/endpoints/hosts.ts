/** Hosts, and with `count` the number of hosts at each device. */
import Type from "typebox";
import { COUNTS_FORMAT } from "../../formats/formats.ts";
import { COST, Pause, type Steps, sortInSteps } from "../../lib/steps.ts";
import { canonicalHostId } from "../../model/address.ts";
import { Host } from "../../model/entity.ts";
import { type FilteredState, filterState } from "../../query/filtered-state.ts";
import { selectEntities } from "../../query/missing.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import { parseStored } from "../../view/view.ts";
import { FIRST, HOST } from "../openapi/example-network.ts";
import { throwIfFault } from "../response/problem.ts";
import type { Representation } from "../response/representation.ts";
import type { Variant } from "./endpoint.ts";
import { entityEndpoint } from "./entity.ts";
import { jsonList } from "./json-list.ts";
import { DOCUMENTS_TEXT, FILTERS_TEXT, listEndpoint, listVersions, TARGETS_TEXT } from "./list.ts";
import { next } from "./paging.ts";
import type { RequestContext } from "./read-context.ts";

const counts: Variant<object> = {
  parameter: "count",
  formats: [COUNTS_FORMAT],
  schema: Type.Object(
    {
      counts: Type.Record(Type.String(), Type.Integer({ description: "The number of hosts." }), {
        description: "By the id of the device. A host with several locations counts at each of its devices.",
      }),
      total: Type.Integer({ description: "The number of hosts, each counted once." }),
    },
    { $id: "Counts" },
  ),
  example: { counts: { [FIRST]: 1 }, total: 1 },
  read: (context, _params, query) => countsRepresentation(context, query),
};

const listHosts = listEndpoint({
  id: "listHosts",
  tag: "Hosts",
  summary: "Hosts",
  description: `${FILTERS_TEXT} ${DOCUMENTS_TEXT} ${TARGETS_TEXT}`,
  kind: "hosts",
  path: "/hosts",
  typeName: "Host",
  schema: Type.Object({ hosts: Type.Array(Host), next }, { $id: "HostList" }),
  example: { hosts: [HOST] },
  parameters: ["ip", "device", "port", "count"],
  variants: [counts],
});

const host = { tag: "Hosts", kind: "hosts", schema: Host, example: HOST } as const;

/** The canonical id of a host. An id that is not valid stays as it is, and no host is found for it. */
const hostId = (id: string): string => canonicalHostId(id) ?? id;

const getHost = entityEndpoint({
  ...host,
  id: "getHost",
  summary: "One host by its id",
  description: "The host with this id, such as `00:00:00:00:00:01/None`; the slash is percent-encoded.",
  path: "/hosts/{id}",
  match: (segments) => (segments.length === 2 ? hostId(segments[1] ?? "") : undefined),
});

const getHostByMac = entityEndpoint({
  ...host,
  id: "getHostByMac",
  summary: "One host by its MAC address and VLAN",
  description: "The host with this MAC address in this VLAN.",
  path: "/hosts/{mac}/{vlan}",
  match: (segments) => (segments.length > 2 ? hostId(segments.slice(1).join("/")) : undefined),
});

export const HOST_ENDPOINTS = [listHosts, getHost, getHostByMac];

/** The representation of the number of hosts at each device. Without a filter the counts come from the state. */
function* countsRepresentation(
  { history, view, memory, dialect, revisions }: RequestContext,
  query: ParsedQuery,
): Steps<Representation> {
  const state = yield* stateAt(history, revisions.at);
  memory.hold(state);
  const filtered = throwIfFault(yield* filterState(state, query));
  const { resolved } = filtered;
  const info = {
    key: `${dialect.keyPrefix}counts ${query.fingerprint}${resolved}`,
    ...listVersions(view, "hosts", query, filtered),
    revision: state.revision,
    contentType: COUNTS_FORMAT.contentType,
  };
  return {
    info,
    *render() {
      const { counts, total } = yield* countHosts(filtered);
      // The counts are sorted by id, so that all nodes and processes send the same bytes.
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

function* members(
  counts: readonly (readonly [device: string, count: number])[],
): Generator<string | undefined, void, void> {
  const pause = new Pause();
  for (const [device, count] of counts) {
    yield `${JSON.stringify(device)}:${count}`;
    if (pause.due(COST.key)) yield;
  }
}
