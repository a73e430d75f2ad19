/** The request that returns what a view shows, and the same request as a curl command line. */
import type { ViewState } from "./state.ts";
import { parseFilter } from "./table/filter.ts";

/** Path and query, without the origin. */
export function requestFor(state: ViewState, format?: string): string {
  const query = new URLSearchParams();
  const append = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "") query.append(name, value);
  };
  append("format", format);
  if (state.view !== "map") {
    for (const [name, value] of parseFilter(state.filter)) append(name, value);
    append("sort", state.sort);
    append("at", state.at);
    return formatUrl(`/controller/v1/${state.view}`, query);
  }
  if (state.compare !== undefined && format === undefined) {
    append("diff", `${state.compare}..${state.at ?? ""}`);
    return formatUrl("/controller/v1/topology", query);
  }
  if (state.layer === "drift" && format === undefined) {
    append("drift", "any");
    append("at", state.at);
    return formatUrl("/controller/v1/topology", query);
  }
  append("around", state.around);
  if (state.around !== undefined) append("hops", String(state.hops));
  append("at", state.at);
  if (format === undefined) append("format", "netjson");
  return formatUrl("/controller/v1/topology", query);
}

const formatUrl = (path: string, query: URLSearchParams): string => {
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/");
  return text === "" ? path : `${path}?${text}`;
};

/** Quoted for a shell. curl prompts for the password, so that it is in no shell history. */
export function curlLine(origin: string, request: string): string {
  const quoted = `'${`${origin}${request}`.replaceAll("'", "'\\''")}'`;
  return `curl --user USERNAME ${quoted}`;
}
