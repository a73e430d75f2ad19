/** From a checked request to its answer: which read a path and query mean. The one place that knows them all. */
import { type Format, formatsOf } from "../formats/formats.ts";
import { IterableBodySource } from "../http1/body-source.ts";
import type { Response } from "../http1/response.ts";
import { parseQuery, type Query } from "../query/parse-query.ts";
import type { BodyRenderer, Prepared, Representation } from "./body-renderer.ts";
import { negotiateFormat } from "./negotiate.ts";
import { badParameter } from "./problem.ts";
import { changesRead, diffRead, sinceOf, timelineRead } from "./reads/changes.ts";
import { itemRead } from "./reads/item.ts";
import { listRead } from "./reads/list.ts";
import type { ReadContext } from "./reads/read-context.ts";
import { topologyRead } from "./reads/topology.ts";
import type { Route } from "./route.ts";
import { createChangeCursor } from "./stream/change-cursor.ts";
import type { SseHub } from "./stream/sse-hub.ts";

export interface RequestInfo {
  readonly method: "GET" | "HEAD";
  /** Path and query as they came, without scheme and host. */
  readonly address: string;
  readonly queryText: string;
  readonly user: string;
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly lastEventId: string | null;
}

export interface Routes {
  readonly context: ReadContext;
  readonly streams: SseHub;
  readonly representer: BodyRenderer;
  readonly pageLimit: number;
}

/** What a read comes to: a representation that may be asked for again, or a stream that is this client's alone. */
export type Read = { readonly prepared: Prepared } | { readonly stream: Response };

export function readRoute(routes: Routes, target: Route, asked: RequestInfo): Read {
  const query = parseQuery(asked.queryText, target, routes);
  if (target.read !== "list" && target.read !== "topology") {
    negotiateFormat("topology", query.format, asked.accept, JSON_ONLY);
    return {
      prepared: routes.representer.prepare(itemRead(routes.context, target, query), asked.acceptEncoding),
    };
  }
  const kind = target.read === "list" ? target.kind : undefined;
  const format = negotiateFormat(kind ?? "topology", query.format, asked.accept);
  if (format.name === "events") return { stream: streamAnswer(routes, target, query, format, asked) };
  const what = representation(routes.context, target, query, format, asked.address);
  return { prepared: routes.representer.prepare(what, asked.acceptEncoding) };
}

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
      throw badParameter(
        "format",
        `is ${format.name}; with ${name} there are json${name === "since" ? " and events" : ""}.`,
      );
    if (name === "since") return changesRead(context, kind, query);
    return name === "diff" ? diffRead(context, kind, query) : timelineRead(context, query);
  }
  return kind ? listRead(context, kind, query, format, address) : topologyRead(context, query, format);
}

/** Of a single thing, and of the clusters. */
const JSON_ONLY = formatsOf("topology").filter((format) => format.name === "json");

const NOT_OF_A_STREAM = ["at", "diff", "timeline", "limit", "cursor", "fields"] as const;

function streamAnswer(
  routes: Routes,
  target: Route,
  query: Query,
  format: Format,
  asked: RequestInfo,
): Response {
  for (const name of NOT_OF_A_STREAM) {
    if (query[name] !== undefined)
      throw badParameter(name, "cannot be asked of a stream; leave it out, or ask for JSON.");
  }
  if (query.sort.length > 0)
    throw badParameter("sort", "cannot be asked of a stream: changes come in the order they happen.");
  if (query.fold) throw badParameter("fold", "cannot be asked of a stream; leave it out, or ask for JSON.");
  const { context, streams } = routes;
  // A browser that reconnects repeats the address it began with; where it has come to is in the header.
  const [from, name] = asked.lastEventId ? [asked.lastEventId, "Last-Event-ID"] : [query.since, "since"];
  const since = from === undefined ? undefined : sinceOf(context, from, name);
  const headers = {
    "Content-Type": format.contentType,
    "Cache-Control": "private, no-cache",
    Vary: "Accept",
    "Gazetteer-Revision": String(since ?? context.view.revision),
    "Gazetteer-Log": context.log.epoch,
    // Proxies that buffer would hold events back.
    "X-Accel-Buffering": "no",
  };
  // Never read, but of unknown length, as the body of a GET.
  if (asked.method === "HEAD") return { status: 200, headers, body: new IterableBodySource([]) };
  const kind = target.read === "list" ? target.kind : undefined;
  const follower = createChangeCursor(context, kind, query, since);
  return { status: 200, headers, body: streams.start(asked.user, follower) };
}
