import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/folder.ts";
import { until } from "../../test/support/until.ts";
import { isBodySource } from "../http1/body-source.ts";
import { ParseError, parseHead, type Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import { ManualClock } from "../lib/clock.ts";
import { createReplicaLog, Replica } from "../view/replica.ts";
import { createRelay } from "./relay.ts";

const marks = { devices: 0, ports: 0, links: 0, hosts: 0, graph: 0 };
const socket = join(temporaryFolder(), "writer");
let letGo = false;
const endless = new ReadableStream({
  start: (controller) => controller.enqueue(Buffer.from("some")),
  cancel() {
    letGo = true;
  },
});
/** Says what it was asked; its answers are of the revision in the path. */
const writer = Bun.serve({
  unix: socket,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (search === "?endless") return new Response(endless);
    const headers = {
      "Gazetteer-Revision": pathname.slice(1),
      "Content-Type": "application/json",
      ETag: '"e"',
    };
    if (request.headers.has("if-none-match")) return new Response(null, { status: 304, headers });
    const asked = { search, method: request.method, headers: Object.fromEntries(request.headers) };
    const body = Bun.gzipSync(JSON.stringify(asked));
    return new Response(body, { headers: { ...headers, "Content-Encoding": "gzip" } });
  },
});
afterAll(() => writer.stop(true));

function relayAt(revision: number) {
  const clock = new ManualClock();
  const replica = new Replica(createReplicaLog("epoch", new Uint8Array(32)), 1000);
  replica.completeSync({ revision, time: 0, graphTime: 0, versions: marks });
  return { clock, replica, relay: createRelay(socket, replica.history, clock) };
}

function request(target: string, headers: Record<string, string> = {}): Request {
  const lines = Object.entries({ Host: "service", ...headers }).map(([name, value]) => `${name}: ${value}`);
  const read = parseHead([`GET ${target} HTTP/1.1`, ...lines].join("\r\n"));
  if (read instanceof ParseError) throw new Error(read.detail);
  return read;
}

/** All that an answer's feed gives. */
async function bytesOf({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  if (!body || typeof body === "string" || !isBodySource(body)) throw new Error("not fed");
  const parts: Uint8Array[] = [];
  for (;;) {
    const more = new Promise<void>((resolve) => body.open(resolve));
    const piece = body.next();
    if (piece === "end") return new Uint8Array(Buffer.concat(parts));
    if (piece === "wait") await more;
    else parts.push(piece);
  }
}

describe("a request handed on", () => {
  test("keeps its words and the answer's bytes; what belongs to a connection stays there", async () => {
    const { relay } = relayAt(5);
    const headers = { Authorization: "Basic x", Connection: "close", TE: "trailers", Accept: "text/csv" };
    const answer = await relay(request("/5?q=a%2Bb&since=3", headers));
    expect(answer.headers["content-encoding"]).toBe("gzip");
    const asked = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await bytesOf(answer))));
    expect(asked).toMatchObject({ search: "?q=a%2Bb&since=3", method: "GET" });
    expect(asked.headers).toMatchObject({
      authorization: "Basic x",
      accept: "text/csv",
      "accept-encoding": "identity",
    });
    expect(asked.headers.te).toBeUndefined();
    const unchanged = await relay(request("/5", { "If-None-Match": '"e"' }));
    expect({ status: unchanged.status, etag: unchanged.headers.etag }).toEqual({
      status: 304,
      etag: '"e"',
    });
  });

  test("for what never ends is let go when nobody reads it any more", async () => {
    const { body } = await relayAt(5).relay(request("/5?endless"));
    if (!body || typeof body === "string" || !isBodySource(body)) throw new Error("not fed");
    const more = new Promise<void>((resolve) => body.open(resolve));
    expect(body.next()).toBe("wait");
    await more;
    expect(Buffer.from(body.next()).toString()).toBe("some");
    expect(body.next()).toBe("wait");
    body.close();
    await until(() => letGo, { what: "the end of the stream there" });
  });

  test("is answered when this process has come as far as the answer", async () => {
    const { relay, replica, clock } = relayAt(3);
    let answered = false;
    const answer = relay(request("/5")).then((response) => {
      answered = true;
      return response;
    });
    await until(() => clock.sleeping > 0, { what: "an answer that is ahead" });
    replica.commitUpTo(4);
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    replica.commitUpTo(5);
    expect((await answer).headers["gazetteer-revision"]).toBe("5");
  });

  test("is refused where the other process would be asked in other words", async () => {
    const { relay } = relayAt(9);
    for (const target of ["/a/../5", "/5/.", "/a/%2E%2e/5?q=1", "/.."]) {
      expect(await relay(request(target)).catch((error) => error)).toMatchObject({ status: 404 });
    }
    expect((await relay(request("/5?q=/../x"))).status).toBe(200);
  });

  test("is refused when this process does not get there, or when nobody answers", async () => {
    const { relay, clock } = relayAt(3);
    const late = relay(request("/5")).catch((error) => error);
    await until(() => clock.sleeping > 0, { what: "an answer that is ahead" });
    await clock.advance(60_000);
    expect(await late).toMatchObject({ name: "Problem", status: 503 });
    const nowhere = createRelay(join(temporaryFolder(), "none"), relayAt(3).replica.history, clock);
    expect(await nowhere(request("/5")).catch((error) => error)).toMatchObject({ status: 503 });
  });
});
