/**
 * The requests that return what a view shows, also as a curl command line. The map highlights entities that match any of
 * the chosen states, but an entity must match all parameters of a request, so each state is a separate request.
 */
import { readableQuery, type ViewState } from "../data/view-state.ts";
import { parseFilter } from "../table/table-filter.ts";

type Parameters = readonly (readonly [name: string, value: string | undefined])[];

/** Path and query of the one request that returns the whole view, in a format that can be downloaded. */
export function downloadRequest(state: ViewState, format: string): string {
  const own: Parameters = [["format", format]];
  if (state.view !== "map") return tableRequest(state, own);
  return formatUrl("topology", [...own, ...aroundParameters(state), ["at", state.at]]);
}

/**
 * Path and query of each request, without the origin. Empty when a state is chosen that only the page computes, because no
 * request returns what has it.
 */
export function requestsFor(state: ViewState): string[] {
  const { at, compare, layer, path } = state;
  if (state.view !== "map") return [tableRequest(state, [])];
  if (compare !== undefined) return [formatUrl("topology", [["diff", `${compare}..${at ?? ""}`]])];
  if (path) {
    const [src, dst] = path.map(({ id }) => encodeURIComponent(id));
    return [formatUrl(`paths/${src}/${dst}`, [["at", at]])];
  }
  if (layer === "drift") {
    const counts: Parameters = [
      ["drift", "any"],
      ["at", at],
    ];
    return [formatUrl("topology", counts)];
  }
  const filtered = filterRequests(state);
  if (filtered) return filtered;
  return [formatUrl("topology", [...aroundParameters(state), ["at", at], ["format", "netjson"]])];
}

const tableRequest = ({ view, filter, sort, at }: ViewState, own: Parameters): string =>
  formatUrl(view, [...own, ...parseFilter(filter), ["sort", sort], ["at", at]]);

const aroundParameters = ({ around, hops }: ViewState): Parameters => [
  ["around", around],
  ["hops", around === undefined ? undefined : String(hops)],
];

/** The lists to request for each state of the filter menu, each with its parameter. The page computes the others. */
const STATE_REQUESTS: Readonly<
  Record<string, readonly (readonly [list: string, name: string, value: string])[]>
> = {
  down: [["devices", "available", "false"]],
  inactive: [["links", "state", "INACTIVE"]],
  "one-way": [["links", "bidirectional", "false"]],
  unverified: [["links", "verified", "false"]],
  conflict: [
    ["devices", "conflict", "true"],
    ["links", "conflict", "true"],
  ],
};

/** Undefined without a filter. */
function filterRequests(state: ViewState): string[] | undefined {
  const { types, states, sources, layer, at } = state;
  const chosen = layer === "conflicts" ? ["conflict"] : states;
  if (types.length + chosen.length + sources.length === 0) return undefined;
  const common: Parameters = [["source", sources.join(",")], ...aroundParameters(state), ["at", at]];
  // A link has a type of its own, which is not that of its devices.
  const listOf = (list: string, own: Parameters) =>
    formatUrl(list, [...own, ["type", list === "devices" ? types.join(",") : ""], ...common]);
  if (chosen.length > 0) {
    if (chosen.some((name) => !STATE_REQUESTS[name])) return [];
    const lists = chosen.flatMap((name) => STATE_REQUESTS[name] ?? []);
    return lists.map(([list, name, value]) => listOf(list, [[name, value]]));
  }
  return types.length > 0 ? [listOf("devices", [])] : ["devices", "links"].map((list) => listOf(list, []));
}

function formatUrl(resource: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of parameters) if (value !== undefined && value !== "") query.append(name, value);
  return `/controller/v1/${resource}${query.size === 0 ? "" : `?${readableQuery(query)}`}`;
}

/** The curl command, quoted for a shell. curl prompts for the password, so that it is not in the shell history. */
export function curlLine(origin: string, ...requests: string[]): string {
  const quoted = requests.map((request) => `'${`${origin}${request}`.replaceAll("'", "'\\''")}'`);
  return `curl --user USERNAME ${quoted.join(" ")}`;
}
