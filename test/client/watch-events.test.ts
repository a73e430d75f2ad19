/** How the watch reacts to the responses and records of a service: starts over, retries later or throws. */
import { describe, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import {
  LOG_ID,
  problemResponse,
  records,
  startFakeService,
  streamResponse,
  textResponse,
} from "./fake-service.ts";
import { FastClock } from "./fast-clock.ts";
import { INITIAL_RECORDS, readUntil, sinceParameters, startWatch } from "./watch-harness.ts";

describe("the service ends or restarts the stream", () => {
  test("410: a new snapshot, without a backoff", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS),
      problemResponse(410, "revision-expired"),
      streamResponse(
        "hold",
        records.snapshot("z", 90),
        records.synced(99),
        records.change("added", "c", 100),
      ),
    );
    const { events, clock } = startWatch(service);
    expect(await readUntil(events, "+c@100.")).toBe("=a@1 =b@4 synced@5 reset =z@90 synced@99 +c@100.");
    expect(sinceParameters(service)).toEqual([undefined, "5", undefined]);
    expect(clock.backoffsMs).toEqual([500]);
  });

  test("410 for the revision that the caller passed: the same", async () => {
    const service = await startFakeService(
      problemResponse(410, "revision-expired"),
      streamResponse("hold", ...INITIAL_RECORDS),
    );
    expect(await readUntil(startWatch(service, { since: 2 }).events, "synced@5")).toBe(
      "reset =a@1 =b@4 synced@5",
    );
  });

  test("an unknown revision, because the service has a new log: a new snapshot", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS),
      problemResponse(400, "revision-unknown"),
      streamResponse("hold", records.synced(1)),
    );
    expect(await readUntil(startWatch(service).events, "synced@1")).toBe("=a@1 =b@4 synced@5 reset synced@1");
  });

  test("a 503 with the id of another log: a new snapshot, because the revision never comes", async () => {
    const other = { "gazetteer-log": "log.2", "retry-after": "1" };
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS),
      problemResponse(503, "revision-not-reached", { "gazetteer-log": LOG_ID }),
      problemResponse(503, "overloaded"),
      problemResponse(503, "revision-not-reached", other),
      streamResponse("hold", records.synced(1)),
    );
    expect(await readUntil(startWatch(service).events, "synced@1")).toBe("=a@1 =b@4 synced@5 reset synced@1");
    expect(sinceParameters(service)).toEqual([undefined, "5", "5", "5", undefined]);
  });

  test("the same at the first connection, from the revision of a read", async () => {
    const service = await startFakeService(
      textResponse('{"status":"ready","revision":5,"logId":"log.1"}'),
      problemResponse(400, "revision-unknown", { "gazetteer-log": "log.2" }),
      streamResponse("hold", records.synced(1)),
    );
    const client = createClient({ url: service.url });
    const { revision } = await client.ready();
    expect(await readUntil(client.watch("devices", {}, { since: revision }), "synced@1")).toBe(
      "reset synced@1",
    );
  });

  test("a snapshot that was not requested: reset and the new snapshot", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS),
      streamResponse("hold", records.snapshot("z", 2), records.synced(3)),
    );
    expect(await readUntil(startWatch(service).events, "synced@3")).toBe(
      "=a@1 =b@4 synced@5 reset =z@2 synced@3",
    );
  });

  test("overflow: resumes without a backoff", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS, records.change("added", "c", 6), records.overflow(6)),
      streamResponse("hold", records.change("added", "d", 7)),
    );
    const { events, clock } = startWatch(service);
    expect(await readUntil(events, "+d@7.")).toBe("=a@1 =b@4 synced@5 +c@6. +d@7.");
    expect(clock.backoffsMs).toEqual([]);
    expect(sinceParameters(service)).toEqual([undefined, "6"]);
  });

  test("overflow without progress: a new snapshot, after a backoff", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS),
      streamResponse("end", records.change("added", "c", 6, false), records.overflow(5)),
      streamResponse("hold", records.synced(6)),
    );
    const { events, clock } = startWatch(service);
    expect(await readUntil(events, "synced@6")).toBe("=a@1 =b@4 synced@5 reset synced@6");
    expect(clock.backoffsMs).toEqual([500, 1000]);
  });

  test("overflow of a stream of problems, which begins anew each time: after a backoff", async () => {
    const service = await startFakeService(
      streamResponse("end", records.synced(5), records.overflow(5)),
      streamResponse("hold", records.synced(6)),
    );
    const clock = new FastClock();
    const client = createClient({ url: service.url, clock, random: () => 1 });
    const lists = client.watchProblems();
    await lists.next();
    expect((await lists.next()).value).toMatchObject({ revision: 6 });
    expect(clock.backoffsMs).toEqual([500]);
  });

  test("closing: waits for the requested delay and the backoff", async () => {
    const service = await startFakeService(
      streamResponse("hold", ...INITIAL_RECORDS, records.closing(7000)),
      streamResponse("hold", records.change("added", "c", 6)),
    );
    const { events, clock, states } = startWatch(service);
    expect(await readUntil(events, "+c@6.")).toBe("=a@1 =b@4 synced@5 +c@6.");
    expect(clock.backoffsMs).toEqual([7500]);
    expect(states[2]).toEqual({
      state: "reconnecting",
      afterMs: 7500,
      reason: "the service ends the stream (shutdown)",
    });
  });

  test("the requested delay is limited", async () => {
    const service = await startFakeService(
      streamResponse("hold", records.synced(5), records.closing(1e15)),
      streamResponse("hold", records.synced(5)),
    );
    const { events, clock } = startWatch(service);
    await events.next();
    await events.next();
    expect(clock.backoffsMs).toEqual([300_500]);
    await events.return();
  });

  test("503 and 429 with Retry-After: waits that long and the backoff", async () => {
    const service = await startFakeService(
      problemResponse(503, "overloaded", { "retry-after": "3" }),
      problemResponse(429, "too-many-streams", { "retry-after": "1" }),
      streamResponse("hold", ...INITIAL_RECORDS),
    );
    const { events, clock } = startWatch(service);
    expect(await readUntil(events, "synced@5")).toBe("=a@1 =b@4 synced@5");
    expect(clock.backoffsMs).toEqual([3500, 2000]);
  });

  test("a revision that is received twice is emitted once", async () => {
    const service = await startFakeService(
      streamResponse(
        "end",
        ...INITIAL_RECORDS,
        records.change("added", "c", 6),
        records.change("added", "c", 6),
      ),
      streamResponse("hold", records.change("added", "c", 6), records.change("added", "d", 8)),
    );
    expect(await readUntil(startWatch(service).events, "+d@8.")).toBe("=a@1 =b@4 synced@5 +c@6. +d@8.");
  });

  test("a revision whose end was lost is detected and requested again", async () => {
    const service = await startFakeService(
      streamResponse(
        "hold",
        ...INITIAL_RECORDS,
        records.change("added", "c", 6, false),
        records.change("added", "e", 7),
      ),
      streamResponse(
        "hold",
        records.change("added", "c", 6, false),
        records.change("added", "d", 6),
        records.change("added", "e", 7),
      ),
    );
    const { events, states } = startWatch(service);
    expect(await readUntil(events, "+e@7.")).toBe("=a@1 =b@4 synced@5 +c@6 +d@6. +e@7.");
    expect(sinceParameters(service)).toEqual([undefined, "5"]);
    expect(states[2]).toMatchObject({ reason: "revision 6 of the stream has no end" });
  });

  test("the watch resumes at the id of a record without data", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS, `id: ${LOG_ID}.40\n\n`),
      streamResponse("hold", records.change("added", "c", 41)),
    );
    await readUntil(startWatch(service).events, "+c@41.");
    expect(sinceParameters(service)).toEqual([undefined, "40"]);
  });
});

describe("errors that a retry would not resolve are thrown", () => {
  const problems: [status: number, code: string][] = [
    [400, "bad-parameter"],
    [401, "credentials-required"],
    [403, "forbidden"],
    [404, "not-found"],
    [406, "not-acceptable"],
  ];
  test.each(problems)("%d %s", async (status, code) => {
    const { events, states } = startWatch(await startFakeService(problemResponse(status, code)));
    const error = await events.next().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ClientError", status, code, detail: `because of ${code}` });
    expect(states.at(-1)).toEqual({ state: "closed" });
  });

  test("401 on a later connection, after the credentials were removed", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS, records.closing(0, "credentials")),
      problemResponse(401, "credentials-required"),
    );
    await expect(readUntil(startWatch(service).events, "never")).rejects.toMatchObject({ status: 401 });
  });

  test("an unknown revision that the caller passed", async () => {
    const service = await startFakeService(problemResponse(400, "revision-unknown"));
    await expect(readUntil(startWatch(service, { since: 1_000_000 }).events, "never")).rejects.toMatchObject({
      code: "revision-unknown",
    });
  });

  const malformed: [name: string, text: string][] = [
    ["not JSON", "event: added\ndata: {\n\n"],
    ["not an object", "event: added\ndata: 7\n\n"],
    ["without a value", 'event: added\ndata: {"resource":"devices","revision":6,"time":1}\n\n'],
    [
      "with a revision that is not a number",
      'event: snapshot\ndata: {"resource":"devices","revision":"6","value":{}}\n\n',
    ],
    ["synced without a revision", "event: synced\ndata: {}\n\n"],
    [
      "updated without changed",
      'event: updated\ndata: {"resource":"devices","revision":6,"time":1,"value":{}}\n\n',
    ],
  ];
  test.each(malformed)("a record that is %s", async (_, text) => {
    const service = await startFakeService(streamResponse("hold", records.synced(5), text));
    await expect(readUntil(startWatch(service).events, "never")).rejects.toMatchObject({
      status: 0,
      code: "protocol",
    });
  });

  test("a change before a snapshot", async () => {
    const service = await startFakeService(streamResponse("hold", records.change("added", "a", 1)));
    await expect(readUntil(startWatch(service).events, "never")).rejects.toThrow("begins with a change");
  });

  test("a response that is not a stream", async () => {
    const service = await startFakeService(
      textResponse("<h1>Welcome!</h1>", { "content-type": "text/html" }),
    );
    await expect(readUntil(startWatch(service).events, "never")).rejects.toThrow(
      "text/html, not an event stream",
    );
  });
});
