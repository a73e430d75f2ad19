/**
 * A service that follows a script, one step a request, for what a real one does once a year: cuts in the middle of a
 * record, wrong order, refusals. Real sockets, so that the client meets what its runtime makes of them.
 */
import { afterEach } from "bun:test";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";

export interface Asked {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

/** An answer; `hold` leaves it open, until `cut`. */
export interface Step {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly (string | Uint8Array)[];
  readonly after: "end" | "hold";
}

export interface FakeService {
  readonly url: string;
  /** Every request so far. */
  readonly asked: readonly Asked[];
  /** Cuts every connection, without a word. */
  cut(): void;
}

const servers = new Set<Server>();
afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers.clear();
});

/** Requests beyond the script are refused in a way that no client tries again. */
export async function startFake(...script: readonly Step[]): Promise<FakeService> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://fake");
    const number = asked.push({
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
    });
    const { status, headers, body, after } = script[number - 1] ?? refusal(400, "script-over");
    response.writeHead(status, headers);
    for (const part of body) response.write(part);
    if (after === "end") response.end();
  });
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, asked, cut: () => server.closeAllConnections() };
}

export function answers(text: string, headers: Record<string, string> = {}, status = 200): Step {
  return { status, headers: { "content-type": "application/json", ...headers }, body: [text], after: "end" };
}

export function refusal(status: number, code: string, headers: Record<string, string> = {}): Step {
  const problem = { type: `/docs/errors#${code}`, title: code, status, detail: `because of ${code}` };
  return answers(JSON.stringify(problem), { "content-type": "application/problem+json", ...headers }, status);
}

export function streams(after: Step["after"], ...body: readonly (string | Uint8Array)[]): Step {
  return { status: 200, headers: { "content-type": "text/event-stream" }, body, after };
}

/** One record. Values are devices of which only the id matters. */
export const said = {
  snapshot: (id: string, revision: number) =>
    `event: snapshot\ndata: ${JSON.stringify({ resource: "devices", revision, value: { id } })}\n\n`,
  synced: (revision: number) => `id: ${revision}\nevent: synced\ndata: {"revision":${revision}}\n\n`,
  /** `whole`: it is the last record of its revision, and has the id. */
  change: (event: "added" | "updated" | "removed", id: string, revision: number, whole = true) => {
    const changed = event === "updated" ? { changed: ["available"] } : {};
    const body = { resource: "devices", revision, time: 1000 + revision, value: { id }, ...changed };
    return `${whole ? `id: ${revision}\n` : ""}event: ${event}\ndata: ${JSON.stringify(body)}\n\n`;
  },
  overflow: (revision: number) => `event: overflow\ndata: {"revision":${revision}}\n\n`,
  closing: (retryMs: number, reason = "shutdown") =>
    `retry: ${retryMs}\nevent: closing\ndata: {"reason":"${reason}"}\n\n`,
};
