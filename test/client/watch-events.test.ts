/** The watch and what a service says: begin anew, try again later, give up. */
import { describe, expect, test } from "bun:test";
import { answers, refusal, said, startFake, streams } from "./fake-service.ts";
import { START, sinces, take, watching } from "./watch-harness.ts";

describe("what the service says about the stream", () => {
  test("410: everything anew, at once", async () => {
    const fake = await startFake(
      streams("end", ...START),
      refusal(410, "revision-expired"),
      streams("hold", said.snapshot("z", 90), said.synced(99), said.change("added", "c", 100)),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "+c@100.")).toBe("=a@1 =b@4 synced@5 reset =z@90 synced@99 +c@100.");
    expect(sinces(fake)).toEqual([undefined, "5", undefined]);
    expect(clock.pauses).toEqual([500]);
  });

  test("410 for a revision that the caller gave: the same", async () => {
    const fake = await startFake(refusal(410, "revision-expired"), streams("hold", ...START));
    expect(await take(watching(fake, { since: 2 }).events, "synced@5")).toBe("reset =a@1 =b@4 synced@5");
  });

  test("it counts from the beginning again: everything anew", async () => {
    const fake = await startFake(
      streams("end", ...START),
      refusal(400, "revision-unknown"),
      streams("hold", said.synced(1)),
    );
    expect(await take(watching(fake).events, "synced@1")).toBe("=a@1 =b@4 synced@5 reset synced@1");
  });

  test("a snapshot unasked is a new beginning too", async () => {
    const fake = await startFake(
      streams("end", ...START),
      streams("hold", said.snapshot("z", 2), said.synced(3)),
    );
    expect(await take(watching(fake).events, "synced@3")).toBe("=a@1 =b@4 synced@5 reset =z@2 synced@3");
  });

  test("overflow: resumes at once", async () => {
    const fake = await startFake(
      streams("end", ...START, said.change("added", "c", 6), said.overflow(6)),
      streams("hold", said.change("added", "d", 7)),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "+d@7.")).toBe("=a@1 =b@4 synced@5 +c@6. +d@7.");
    expect(clock.pauses).toEqual([]);
    expect(sinces(fake)).toEqual([undefined, "6"]);
  });

  test("overflow before anything was told: everything anew, after a pause", async () => {
    const fake = await startFake(
      streams("end", ...START),
      streams("end", said.change("added", "c", 6, false), said.overflow(5)),
      streams("hold", said.synced(6)),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "synced@6")).toBe("=a@1 =b@4 synced@5 reset synced@6");
    expect(clock.pauses).toEqual([500, 1000]);
  });

  test("closing: waits as long as asked, and a little longer", async () => {
    const fake = await startFake(
      streams("hold", ...START, said.closing(7000)),
      streams("hold", said.change("added", "c", 6)),
    );
    const { events, clock, states } = watching(fake);
    expect(await take(events, "+c@6.")).toBe("=a@1 =b@4 synced@5 +c@6.");
    expect(clock.pauses).toEqual([7500]);
    expect(states[2]).toEqual({
      state: "reconnecting",
      afterMs: 7500,
      reason: "the service ends the stream (shutdown)",
    });
  });

  test("no hint keeps it away for ever", async () => {
    const fake = await startFake(
      streams("hold", said.synced(5), said.closing(1e15)),
      streams("hold", said.synced(5)),
    );
    const { events, clock } = watching(fake);
    await events.next();
    await events.next();
    expect(clock.pauses).toEqual([300_500]);
    await events.return();
  });

  test("503 and 429 with Retry-After: waits that long", async () => {
    const fake = await startFake(
      refusal(503, "overloaded", { "retry-after": "3" }),
      refusal(429, "too-many-streams", { "retry-after": "1" }),
      streams("hold", ...START),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "synced@5")).toBe("=a@1 =b@4 synced@5");
    expect(clock.pauses).toEqual([3500, 2000]);
  });

  test("a revision told twice is told once", async () => {
    const fake = await startFake(
      streams("end", ...START, said.change("added", "c", 6), said.change("added", "c", 6)),
      streams("hold", said.change("added", "c", 6), said.change("added", "d", 8)),
    );
    expect(await take(watching(fake).events, "+d@8.")).toBe("=a@1 =b@4 synced@5 +c@6. +d@8.");
  });

  test("the end of a revision lost on the way is noticed, and asked for again", async () => {
    const fake = await startFake(
      streams("hold", ...START, said.change("added", "c", 6, false), said.change("added", "e", 7)),
      streams(
        "hold",
        said.change("added", "c", 6, false),
        said.change("added", "d", 6),
        said.change("added", "e", 7),
      ),
    );
    const { events, states } = watching(fake);
    expect(await take(events, "+e@7.")).toBe("=a@1 =b@4 synced@5 +c@6 +d@6. +e@7.");
    expect(sinces(fake)).toEqual([undefined, "5"]);
    expect(states[2]).toMatchObject({ reason: "revision 6 of the stream has no end" });
  });

  test("an id without data is a place to resume at", async () => {
    const fake = await startFake(
      streams("end", ...START, "id: 40\n\n"),
      streams("hold", said.change("added", "c", 41)),
    );
    await take(watching(fake).events, "+c@41.");
    expect(sinces(fake)).toEqual([undefined, "40"]);
  });
});

describe("what no further try would mend is thrown", () => {
  const refusals: [status: number, code: string][] = [
    [400, "bad-parameter"],
    [401, "credentials-required"],
    [403, "forbidden"],
    [404, "not-found"],
    [406, "not-acceptable"],
  ];
  test.each(refusals)("%d %s", async (status, code) => {
    const { events, states } = watching(await startFake(refusal(status, code)));
    const error = await events.next().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ClientError", status, code, detail: `because of ${code}` });
    expect(states.at(-1)).toEqual({ state: "closed" });
  });

  test("also when it happens later: credentials taken away", async () => {
    const fake = await startFake(
      streams("end", ...START, said.closing(0, "credentials")),
      refusal(401, "credentials-required"),
    );
    await expect(take(watching(fake).events, "never")).rejects.toMatchObject({ status: 401 });
  });

  test("a revision that the caller made up", async () => {
    const fake = await startFake(refusal(400, "revision-unknown"));
    await expect(take(watching(fake, { since: 1_000_000 }).events, "never")).rejects.toMatchObject({
      code: "revision-unknown",
    });
  });

  const garbage: [name: string, text: string][] = [
    ["not JSON", "event: added\ndata: {\n\n"],
    ["not an object", "event: added\ndata: 7\n\n"],
    ["no value", 'event: added\ndata: {"resource":"devices","revision":6,"time":1}\n\n'],
    [
      "a revision that is none",
      'event: snapshot\ndata: {"resource":"devices","revision":"6","value":{}}\n\n',
    ],
    ["synced without one", "event: synced\ndata: {}\n\n"],
    [
      "updated without what",
      'event: updated\ndata: {"resource":"devices","revision":6,"time":1,"value":{}}\n\n',
    ],
  ];
  test.each(garbage)("a record that is %s", async (_, text) => {
    const fake = await startFake(streams("hold", said.synced(5), text));
    await expect(take(watching(fake).events, "never")).rejects.toMatchObject({ status: 0, code: "protocol" });
  });

  test("changes before anything they could change", async () => {
    const fake = await startFake(streams("hold", said.change("added", "a", 1)));
    await expect(take(watching(fake).events, "never")).rejects.toThrow("begins with a change");
  });

  test("an answer that is no stream", async () => {
    const fake = await startFake(answers("<h1>Welcome!</h1>", { "content-type": "text/html" }));
    await expect(take(watching(fake).events, "never")).rejects.toThrow("text/html and no stream of events");
  });
});
