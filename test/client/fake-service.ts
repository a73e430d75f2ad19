/**
 * A service with scripted responses, one for each request, for cases that a real service rarely produces: connections
 * that break in the middle of a record, records in the wrong order, errors. It uses real sockets, so that the client is
 * tested with the errors of its runtime.
 */
import { afterEach } from "bun:test";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";

export interface ReceivedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

/** With `hold` the response stays open until `dropConnections`. */
export interface ScriptedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly (string | Uint8Array)[];
  readonly after: "end" | "hold";
}

export interface FakeService {
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly ReceivedRequest[];
  /** Closes every connection without ending the responses. */
  dropConnections(): void;
}

const servers = new Set<Server>();
afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers.clear();
});

/** Requests beyond the script get an error that no client retries. */
export async function startFakeService(...script: readonly ScriptedResponse[]): Promise<FakeService> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://fake");
    const number = requests.push({
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
    });
    const { status, headers, body, after } = script[number - 1] ?? problemResponse(400, "script-over");
    response.writeHead(status, headers);
    for (const part of body) response.write(part);
    if (after === "end") response.end();
  });
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    dropConnections: () => server.closeAllConnections(),
  };
}

export function textResponse(
  text: string,
  headers: Record<string, string> = {},
  status = 200,
): ScriptedResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, body: [text], after: "end" };
}

export function problemResponse(
  status: number,
  code: string,
  headers: Record<string, string> = {},
): ScriptedResponse {
  const problem = { type: `/docs/errors#${code}`, title: code, status, detail: `because of ${code}` };
  const contentType = { "content-type": "application/problem+json" };
  return textResponse(JSON.stringify(problem), { ...contentType, ...headers }, status);
}

export function streamResponse(
  after: ScriptedResponse["after"],
  ...body: readonly (string | Uint8Array)[]
): ScriptedResponse {
  const headers = { "content-type": "text/event-stream", "gazetteer-log": LOG_ID };
  return { status: 200, headers, body, after };
}

/** Of its events. A client splits an id at the last dot. */
export const LOG_ID = "log.1";

/** Each returns one record of a stream. The entities are devices with only an id. */
export const records = {
  snapshot: (id: string, revision: number) =>
    `event: snapshot\ndata: ${JSON.stringify({ resource: "devices", revision, value: { id } })}\n\n`,
  synced: (revision: number) =>
    `id: ${LOG_ID}.${revision}\nevent: synced\ndata: {"revision":${revision}}\n\n`,
  /** Only the last record of a revision has an id. */
  change: (event: "added" | "updated" | "removed", id: string, revision: number, isLast = true) => {
    const changed = event === "updated" ? { changed: ["available"] } : {};
    const body = { resource: "devices", revision, time: 1000 + revision, value: { id }, ...changed };
    return `${isLast ? `id: ${LOG_ID}.${revision}\n` : ""}event: ${event}\ndata: ${JSON.stringify(body)}\n\n`;
  },
  overflow: (revision: number) => `event: overflow\ndata: {"revision":${revision}}\n\n`,
  closing: (retryMs: number, reason = "shutdown") =>
    `retry: ${retryMs}\nevent: closing\ndata: {"reason":"${reason}"}\n\n`,
};
