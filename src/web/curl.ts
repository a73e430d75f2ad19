/** The request behind what is on the screen, as a line for a terminal. */
import type { ViewState } from "./state.ts";
import { parseFilter } from "./table/filter.ts";

/** Path and query below the service's address. */
export function requestFor(state: ViewState, format?: string): string {
  const query = new URLSearchParams();
  const put = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "") query.append(name, value);
  };
  put("format", format);
  if (state.view !== "map") {
    for (const [name, value] of parseFilter(state.filter)) put(name, value);
    put("sort", state.sort);
    put("at", state.at);
    return address(`/controller/v1/${state.view}`, query);
  }
  if (state.compare !== undefined && format === undefined) {
    put("diff", `${state.compare}..${state.at ?? ""}`);
    return address("/controller/v1/topology", query);
  }
  put("around", state.around);
  if (state.around !== undefined) put("hops", String(state.hops));
  put("at", state.at);
  if (format === undefined) put("format", "netjson");
  return address("/controller/v1/topology", query);
}

const address = (path: string, query: URLSearchParams): string => {
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/");
  return text === "" ? path : `${path}?${text}`;
};

/** Quoted for a shell, whatever a name contains. The password is asked for, and stands in no history. */
export function curlLine(origin: string, request: string): string {
  const quoted = `'${`${origin}${request}`.replaceAll("'", "'\\''")}'`;
  return `curl --user USERNAME ${quoted}`;
}
