import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { readBody } from "../../../test/support/read-body.ts";
import { until } from "../../../test/support/until.ts";
import { type BodySource, isBodySource } from "../../http1/body-source.ts";
import { ParseError, parseHead, type Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import { createReplicaLog, Replica } from "../../view/replica.ts";
import { createRelay, RELAYED_USER_HEADER } from "./relay.ts";

const versions = { devices: 0, ports: 0, links: 0, hosts: 0, graph: 0 };
const socketPath = join(temporaryFolder(), "writer");
let isEndlessCancelled = false;
const endless = new ReadableStream({
  start: (controller) => controller.enqueue(Buffer.from("some")),
  cancel() {
    isEndlessCancelled = true;
  },
});
/** Responds with the request it received. The revision of the response is the number in the path. */
const mainProcess = Bun.serve({
  unix: socketPath,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (search === "?endless") return new Response(endless);
    const headers = {
      "Gazetteer-Revision": pathname.slice(1),
      "Content-Type": "application/json",
      ETag: '"e"',
    };
    if (request.headers.has("if-none-match")) return new Response(null, { status: 304, headers });
    const received = { search, method: request.method, headers: Object.fromEntries(request.headers) };
    const body = Bun.gzipSync(JSON.stringify(received));
    return new Response(body, { headers: { ...headers, "Content-Encoding": "gzip" } });
  },
});
afterAll(() => mainProcess.stop(true));

/** The Authorization header of the service's own processes. */
const INTERNAL = "Basic internal";

function relayAt(revision: number) {
  const clock = new ManualClock();
  const replica = new Replica(createReplicaLog("epoch", new Uint8Array(32)), 1000);
  replica.completeSync({ revision, time: 0, graphTime: 0, versions });
  const relayFrom = createRelay(socketPath, replica.history, clock, INTERNAL);
  const relay = (request: Request, user?: string) => relayFrom(request, "2001:db8::1", user);
  return { clock, replica, relay };
}

function createRequest(target: string, headers: Record<string, string> = {}): Request {
  const lines = Object.entries({ Host: "service", ...headers }).map(([name, value]) => `${name}: ${value}`);
  const request = parseHead([`GET ${target} HTTP/1.1`, ...lines].join("\r\n"));
  if (request instanceof ParseError) throw new Error(request.detail);
  return request;
}

function bodySourceOf({ body }: Response): BodySource {
  if (!body || typeof body === "string" || !isBodySource(body)) throw new Error("not a body source");
  return body;
}

describe("a forwarded request", () => {
  test("names the user that was authenticated, and has nothing that the client has written of its user", async () => {
    const { relay } = relayAt(5);
    const received = async (user?: string) => {
      const request = createRequest("/5", { Authorization: "Basic x", [RELAYED_USER_HEADER]: "eve" });
      const body = await readBody(bodySourceOf(await relay(request, user)));
      const { headers } = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(body))));
      return { authorization: headers.authorization, user: headers[RELAYED_USER_HEADER] };
    };
    expect(await received("änn")).toEqual({ authorization: INTERNAL, user: "%C3%A4nn" });
    expect(await received()).toEqual({ authorization: undefined, user: undefined });
  });

  test("keeps its query and headers except those of the connection, and the bytes of the response", async () => {
    const { relay } = relayAt(5);
    const headers = { Connection: "close", TE: "trailers", Accept: "text/csv" };
    const forged = { Forwarded: "for=192.0.2.9", "X-Forwarded-For": "192.0.2.9" };
    const response = await relay(createRequest("/5?q=a%2Bb&since=3", { ...headers, ...forged }));
    expect(response.headers["content-encoding"]).toBe("gzip");
    const body = new Uint8Array(await readBody(bodySourceOf(response)));
    const received = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(body)));
    expect(received).toMatchObject({ search: "?q=a%2Bb&since=3", method: "GET" });
    expect(received.headers).toMatchObject({
      accept: "text/csv",
      "accept-encoding": "identity",
      forwarded: 'for="[2001:db8::1]"',
    });
    expect(received.headers["x-forwarded-for"]).toBeUndefined();
    expect(received.headers.te).toBeUndefined();
    const notModified = await relay(createRequest("/5", { "If-None-Match": '"e"' }));
    expect({ status: notModified.status, etag: notModified.headers.etag }).toEqual({
      status: 304,
      etag: '"e"',
    });
  });

  test("for an endless response is cancelled when its body is closed", async () => {
    const body = bodySourceOf(await relayAt(5).relay(createRequest("/5?endless")));
    const readable = new Promise<void>((resolve) => body.open(resolve));
    expect(body.next()).toBe("wait");
    await readable;
    expect(Buffer.from(body.next()).toString()).toBe("some");
    expect(body.next()).toBe("wait");
    body.close();
    await until(() => isEndlessCancelled, { what: "the cancellation of the stream" });
  });

  test("gets its response when this process has reached the revision of the response", async () => {
    const { relay, replica, clock } = relayAt(3);
    let hasResponse = false;
    const response = relay(createRequest("/5")).then((result) => {
      hasResponse = true;
      return result;
    });
    await until(() => clock.sleeping > 0, { what: "a response that is ahead" });
    replica.commitUpTo(4);
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasResponse).toBe(false);
    replica.commitUpTo(5);
    expect((await response).headers["gazetteer-revision"]).toBe("5");
  });

  test("gets 404 when fetch would normalise its path to another one", async () => {
    const { relay } = relayAt(9);
    for (const target of ["/a/../5", "/5/.", "/a/%2E%2e/5?q=1", "/.."]) {
      expect(await relay(createRequest(target)).catch((error) => error)).toMatchObject({ status: 404 });
    }
    expect((await relay(createRequest("/5?q=/../x"))).status).toBe(200);
  });

  test("gets 503 when this process does not reach the revision, or when the main process does not respond", async () => {
    const { relay, clock } = relayAt(3);
    const late = relay(createRequest("/5")).catch((error) => error);
    await until(() => clock.sleeping > 0, { what: "a response that is ahead" });
    await clock.advance(60_000);
    expect(await late).toMatchObject({ name: "Problem", status: 503 });
    const unconnected = createRelay(
      join(temporaryFolder(), "none"),
      relayAt(3).replica.history,
      clock,
      INTERNAL,
    );
    expect(await unconnected(createRequest("/5"), "192.0.2.1").catch((error) => error)).toMatchObject({
      status: 503,
    });
  });
});
