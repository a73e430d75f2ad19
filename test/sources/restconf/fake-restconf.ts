/**
 * A RESTCONF server on loopback that behaves as OpenDaylight does: Basic authentication with an empty 401, a new cookie in
 * every response, lists in random order, 409 for missing data, 400 for an unknown module, and the stream of changes. What
 * it does differently is set by the test.
 */
import { basic } from "../../support/service.ts";

export const TOPOLOGY = "network-topology:network-topology";
export const NETWORKS = "ietf-network:networks";
export const INVENTORY = "opendaylight-inventory:nodes";
const SUBSCRIBE = "operations/sal-remote:create-data-change-event-subscription";
const CREDENTIALS = "admin:admin";

export class FakeRestconf implements AsyncDisposable {
  /** By top-level node, with its prefix. `null`: the module is known and has no data. */
  readonly data = new Map<string, object | null>([
    [TOPOLOGY, null],
    [NETWORKS, null],
    [INVENTORY, null],
  ]);
  /** `METHOD path?query` of all requests. */
  readonly requests: string[] = [];
  readonly cookiesReceived: string[] = [];
  offersStream = true;
  /** Under `/.well-known/host-meta`. */
  hostMeta: { readonly type: string; readonly body: string } = {
    type: "application/xrd+xml",
    body: `<?xml version='1.0'?>\n<XRD xmlns='x'>\n  <Link rel='restconf' href='/rests'/>\n</XRD>`,
  };
  /** Answers in place of the server. */
  intercept: ((url: URL, request: Request) => Response | undefined) | undefined;
  readonly #streams = new Map<string, ReadableStreamDefaultController<Uint8Array> | undefined>();
  #server: Bun.Server<undefined> | undefined;
  #port = 0;

  static start(): FakeRestconf {
    const server = new FakeRestconf();
    server.restart();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/rests`;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get openStreams(): number {
    return [...this.#streams.values()].filter((stream) => stream !== undefined).length;
  }

  countOf(part: string): number {
    return this.requests.filter((line) => line.includes(part)).length;
  }

  restart(): void {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: this.#port,
      idleTimeout: 0,
      fetch: (request) => this.#answer(new URL(request.url), request),
    });
    this.#port = this.#server.port ?? 0;
  }

  /** As SIGKILL: connections are cut, streams and subscriptions are gone. */
  async kill(): Promise<void> {
    this.#streams.clear();
    await this.#server?.stop(true);
    this.#server = undefined;
  }

  /** Cuts the streams and keeps the data. */
  breakStreams(): void {
    for (const stream of this.#streams.values()) stream?.close();
    this.#streams.clear();
  }

  /** Sends an event with the changed leaves, between two heartbeats. */
  sendChange(): void {
    const event = {
      "ietf-restconf:notification": {
        "event-time": "2026-11-15T10:31:02.539674382Z",
        "sal-remote:data-changed-notification": {
          "data-change-event": [
            { path: `/${TOPOLOGY}/topology[topology-id='flow:1']`, operation: "updated" },
          ],
        },
      },
    };
    this.send(`: ping\r\n\r\ndata: ${JSON.stringify(event)}\n\n: ping\n\n`);
  }

  send(text: string): void {
    for (const stream of this.#streams.values()) stream?.enqueue(new TextEncoder().encode(text));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #answer(url: URL, request: Request): Response {
    this.requests.push(`${request.method} ${url.pathname}${url.search}`);
    const cookie = request.headers.get("cookie");
    if (cookie !== null) this.cookiesReceived.push(cookie);
    const response = this.intercept?.(url, request) ?? this.#answerAuthenticated(url, request);
    response.headers.append("set-cookie", `JSESSIONID=node0${crypto.randomUUID()}; Path=/rests; HttpOnly`);
    return response;
  }

  #answerAuthenticated(url: URL, request: Request): Response {
    if (request.headers.get("authorization") !== basic(CREDENTIALS)) {
      return new Response(null, {
        status: 401,
        headers: { "www-authenticate": 'BASIC realm="application"' },
      });
    }
    if (url.pathname === "/.well-known/host-meta") {
      return new Response(this.hostMeta.body, { headers: { "content-type": this.hostMeta.type } });
    }
    const path = url.pathname.replace(/^\/rests\//, "");
    if (path === SUBSCRIBE && request.method === "POST" && this.offersStream) return this.#subscribe();
    if (path.startsWith("streams/json/")) return this.#stream(path.slice("streams/json/".length));
    if (path.startsWith("data/")) return this.#readData(path.slice("data/".length));
    return errorResponse(404, "unknown-element");
  }

  #readData(path: string): Response {
    const content = this.data.get(path);
    if (content === undefined) return errorResponse(400, "unknown-element");
    if (content === null) return errorResponse(409, "data-missing");
    return json(200, shuffle({ [path]: content }));
  }

  #subscribe(): Response {
    const name = `urn:uuid:${crypto.randomUUID()}`;
    this.#streams.set(name, undefined);
    return json(200, { "sal-remote:output": { "stream-name": name } });
  }

  #stream(name: string): Response {
    if (!this.#streams.has(name)) return errorResponse(404, "unknown-element");
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#streams.set(name, controller);
        // The first event is the whole subtree, as created.
        this.sendChange();
      },
      cancel: () => void this.#streams.delete(name),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
}

const json = (status: number, value: unknown): Response =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/yang-data+json" } });

export const errorResponse = (status: number, tag: string): Response =>
  json(status, { errors: { error: [{ "error-tag": tag, "error-message": "…", "error-type": "protocol" }] } });

/** All lists in random order; empty ones are left out. */
function shuffle(value: unknown): unknown {
  if (Array.isArray(value)) {
    const keyed = value.map((entry) => ({ entry: shuffle(entry), key: Math.random() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ entry }) => entry);
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, entry]) => !Array.isArray(entry) || entry.length > 0);
  return Object.fromEntries(entries.map(([key, entry]) => [key, shuffle(entry)]));
}
