/** From a checked request to its answer: which read a path and query mean. The one place that knows them all. */
import { type Format, formatsOf } from "../formats/formats.ts";
import { IterableBodySource } from "../http1/body-source.ts";
import type { Response } from "../http1/response.ts";
import { badParameter } from "../query/fault.ts";
import type { QueryTarget } from "../query/parameters.ts";
import { parseQuery } from "../query/parse-query.ts";
import type { Query } from "../query/query.ts";
import { resolveSince } from "../query/revision.ts";
import type { BodyRenderer, PreparedResponse, Representation } from "./body-renderer.ts";
import { negotiateFormat } from "./negotiate.ts";
import { problemOf, throwIfFault } from "./query-problem.ts";
import { parseQueryString } from "./query-string.ts";
import { changesRepresentation, diffRepresentation } from "./reads/changes.ts";
import { itemRepresentation } from "./reads/item.ts";
import { listRepresentation } from "./reads/list.ts";
import type { ReadContext } from "./reads/read-context.ts";
import { timelineRepresentation } from "./reads/timeline.ts";
import { topologyRepresentation } from "./reads/topology.ts";
import type { Route } from "./route.ts";
import { createChangeCursor } from "./stream/change-cursor.ts";
import type { SseHub } from "./stream/sse-hub.ts";

export interface RequestInfo {
  readonly method: "GET" | "HEAD";
  /** Path and query as they came, without scheme and host. */
  readonly target: string;
  readonly queryText: string;
  readonly user: string;
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly lastEventId: string | null;
}

export interface RouterContext {
  readonly context: ReadContext;
  readonly streams: SseHub;
  readonly renderer: BodyRenderer;
  readonly pageLimit: number;
}

/** What a read comes to: a representation that may be asked for again, or a stream that is this client's alone. */
export type ReadResult = { readonly prepared: PreparedResponse } | { readonly stream: Response };

export function dispatchRead(routes: RouterContext, target: Route, asked: RequestInfo): ReadResult {
  const query = throwIfFault(parseQuery(parseQueryString(asked.queryText), queryTarget(target), routes));
  if (target.read !== "list" && target.read !== "topology") {
    negotiateFormat("topology", query.format, asked.accept, JSON_ONLY);
    return {
      prepared: routes.renderer.prepare(itemRepresentation(routes.context, target, query), asked.acceptEncoding),
    };
  }
  const kind = target.read === "list" ? target.kind : undefined;
  const format = negotiateFormat(kind ?? "topology", query.format, asked.accept);
  if (format.stream) return { stream: streamAnswer(routes, target, query, format, asked) };
  const what = representation(routes.context, target, query, format, asked.target);
  return { prepared: routes.renderer.prepare(what, asked.acceptEncoding) };
}

const queryTarget = (route: Route): QueryTarget =>
  route.read === "list" ? route.kind : route.read === "topology" ? "topology" : "item";

function representation(
  context: ReadContext,
  target: Extract<Route, { read: "list" | "topology" }>,
  query: Query,
  format: Format,
  address: string,
): Representation {
  const kind = target.read === "list" ? target.kind : undefined;
  if (query.since !== undefined || query.diff !== undefined || query.timeline !== undefined) {
    const name = query.since !== undefined ? "since" : query.diff !== undefined ? "diff" : "timeline";
    if (format.name !== "json")
      throw problemOf(
        badParameter(
          "format",
          `is ${format.name}; with ${name} there are json${name === "since" ? " and events" : ""}.`,
        ),
      );
    if (name === "since") return changesRepresentation(context, kind, query);
    return name === "diff" ? diffRepresentation(context, kind, query) : timelineRepresentation(context, query);
  }
  return kind
    ? listRepresentation(context, kind, query, format, address)
    : topologyRepresentation(context, query, format);
}

/** Of a single thing, and of the clusters. */
const JSON_ONLY = formatsOf("topology").filter((format) => format.name === "json");

const NOT_OF_A_STREAM = ["at", "diff", "timeline", "limit", "cursor", "fields"] as const;

function streamAnswer(
  routes: RouterContext,
  target: Route,
  query: Query,
  format: Format,
  asked: RequestInfo,
): Response {
  for (const name of NOT_OF_A_STREAM) {
    if (query[name] !== undefined)
      throw problemOf(badParameter(name, "cannot be used on a stream; leave it out, or request JSON."));
  }
  if (query.sort.length > 0)
    throw problemOf(badParameter("sort", "cannot be used on a stream: changes come in order of revision."));
  if (query.fold) throw problemOf(badParameter("fold", "cannot be used on a stream; leave it out, or request JSON."));
  const { context, streams } = routes;
  // A browser that reconnects repeats the address it began with; where it has come to is in the header.
  const [from, name] = asked.lastEventId ? [asked.lastEventId, "Last-Event-ID"] : [query.since, "since"];
  const since = from === undefined ? undefined : throwIfFault(resolveSince(context.history, from, name));
  const headers = {
    "Content-Type": format.contentType,
    "Cache-Control": "private, no-cache",
    Vary: "Accept",
    "Gazetteer-Revision": String(since ?? context.view.revision),
    "Gazetteer-Log": context.log.id,
    // Proxies that buffer would hold events back.
    "X-Accel-Buffering": "no",
  };
  // Never read, but of unknown length, as the body of a GET.
  if (asked.method === "HEAD") return { status: 200, headers, body: new IterableBodySource([]) };
  const kind = target.read === "list" ? target.kind : undefined;
  const follower = createChangeCursor(context, kind, query, since);
  return { status: 200, headers, body: streams.openStream(asked.user, follower) };
}
