/** Streams of problems beside each other: whoever is first, all of them have the same lists, at most a second late. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { listProblems } from "../../src/api/endpoints/problems.ts";
import { parseQueryString } from "../../src/api/endpoints/read-handler.ts";
import { PLAIN } from "../../src/api/onos/dialect.ts";
import { throwIfFault } from "../../src/api/response/problem.ts";
import type { ChangeCursor } from "../../src/api/stream/change-cursor.ts";
import { createProblemsCursor } from "../../src/api/stream/problems-position.ts";
import { SharedChunks } from "../../src/api/stream/shared-chunks.ts";
import { EventStreamParser } from "../../src/client/event-stream.ts";
import { uncountedMemory } from "../../src/lib/memory-budget.ts";
import { runToEnd, type Steps } from "../../src/lib/steps.ts";
import type { ClaimChange } from "../../src/model/claim.ts";
import type { NetworkProblem } from "../../src/model/network-problem.ts";
import { parseQuery } from "../../src/query/parse-query.ts";
import type { ProblemList } from "../../src/query/problems/problem-list.ts";
import { Problems } from "../../src/query/problems/problems.ts";
import { History } from "../../src/view/history.ts";
import { ClaimedNetwork } from "../support/claims.ts";
import { assertProperty, PROPERTY_TIMEOUT_MS } from "../support/property.ts";
import { LocalCopy } from "./events.ts";
import { A, B, C, device, host, link, noLink, TREE } from "./problem-network.ts";

/** The query of a stream, and which problems of the list it is to have. */
const FILTERS: readonly (readonly [query: string, matches: (problem: NetworkProblem) => boolean])[] = [
  ["", () => true],
  ["kind=link-lost,host-moved", ({ kind }) => kind === "link-lost" || kind === "host-moved"],
  ["severity=critical", ({ severity }) => severity === "critical"],
  [`device=${B}`, ({ devices }) => devices.includes(B)],
];
const CHANGES: readonly (readonly ClaimChange[])[] = [
  [device(B, false)],
  [device(B)],
  [device(C, false), host(1, B)],
  [device(C)],
  link(A, C, "INACTIVE"),
  noLink(A, C),
  link(A, C),
  [host(1, A)],
  [device("dev:d")],
];
/** Moved hosts are listed for this time, so that lists also change without a revision. */
const WINDOWS = { lostLinkMs: 3_600_000, movedHostMs: 1500 };

class Network {
  readonly net = new ClaimedNetwork(["first"]);
  readonly history = new History(
    { view: this.net.view, log: this.net.log, onBatch: (listener) => this.net.committer.onBatch(listener) },
    1024 * 1024,
  );
  readonly problems = new Problems(this.history, this.net.clock, WINDOWS);
  readonly chunks = new SharedChunks();
  readonly streams: Stream[] = [];

  open(filter: number, since?: number): void {
    const [text, matches] = FILTERS[filter % FILTERS.length] ?? ["", () => true];
    const query = throwIfFault(
      parseQuery(parseQueryString(text), listProblems.parameters, { pageLimit: 100, acceptsNames: true }),
    );
    const { history, problems, chunks } = this;
    const context = { history, problems, view: this.net.view, dialect: PLAIN, memory: uncountedMemory() };
    const cursor = runToEnd(createProblemsCursor(context, query, since, chunks));
    const stream = new Stream(cursor, matches);
    this.streams.push(stream);
    // A client that resumes has the list of the revision.
    const known = since === undefined ? [] : problemsOf(problems.at(since, history.timeOf(since), () => {}));
    for (const value of known.filter(matches))
      stream.copy.apply({ event: "snapshot", id: "", data: { resource: "problems", value } });
    stream.send();
  }

  /** Sends what there is to send; the streams are woken in this order. */
  settle(first: number): void {
    const streams = this.streams.map((_, i) => this.streams[(i + first) % this.streams.length]);
    for (let isBehind = true; isBehind; ) {
      for (const stream of streams) stream?.send();
      isBehind = streams.some((stream) => stream?.cursor.isBehind);
    }
  }

  /** Those of now, computed apart from the streams. */
  list(): NetworkProblem[] {
    return problemsOf(new Problems(this.history, this.net.clock, WINDOWS).newest());
  }
}

const problemsOf = (steps: Steps<ProblemList>): NetworkProblem[] =>
  runToEnd(steps).problems.map(({ problem }) => problem);

/** A stream and the list that its client has. */
class Stream {
  readonly cursor: ChangeCursor;
  readonly matches: (problem: NetworkProblem) => boolean;
  readonly copy = new LocalCopy();
  readonly #parser = new EventStreamParser();

  constructor(cursor: ChangeCursor, matches: (problem: NetworkProblem) => boolean) {
    this.cursor = cursor;
    this.matches = matches;
  }

  send(): void {
    for (let next = this.#next(); next; next = this.#next())
      for (const { event, data, lastEventId } of this.#parser.push(next))
        this.copy.apply({ event, id: lastEventId, data: JSON.parse(data) });
  }

  #next(): Uint8Array | undefined {
    const next = runToEnd(this.cursor.next());
    if (next === "overflow") throw new Error("overflow");
    return next;
  }

  expectList(problems: readonly NetworkProblem[]): void {
    const expected = problems.filter(this.matches).sort((p, q) => (p.id < q.id ? -1 : 1));
    expect<unknown>(this.copy.list("problems")).toEqual(expected);
  }
}

/** A change, a stream that is opened or resumes, streams that are woken, another reader, or time that passes. */
const ACTIONS = ["change", "change", "open", "resume", "wake", "read", "pause", "second", "second"] as const;
const action = fc.tuple(fc.constantFrom(...ACTIONS), fc.nat(100));

test(
  "every stream has the list of its filter, whatever the others and other readers do",
  async () => {
    await assertProperty(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const network = new Network();
        const { net, problems, streams, history } = network;
        await net.apply("first", ...TREE);
        for (const filter of FILTERS.keys()) network.open(filter);
        for (const [type, n] of actions) {
          if (type === "change") await net.apply("first", ...(CHANGES[n % CHANGES.length] ?? []));
          else if (type === "open") network.open(n);
          else if (type === "resume") network.open(n, 1 + (n % history.view.revision));
          else if (type === "wake") network.settle(n);
          else if (type === "read") runToEnd(problems.newest());
          else if (type === "pause") await net.clock.advance(300);
          else {
            await net.clock.advance(1000);
            // However many changes there were, and however short ago: a second after a list all may have the next.
            network.settle(n);
            const list = network.list();
            for (const stream of streams) stream.expectList(list);
          }
        }
        problems.stop();
      }),
      40,
    );
  },
  PROPERTY_TIMEOUT_MS,
);

test("all streams of one second have the same list, and none has another before the second is over", async () => {
  const network = new Network();
  const { net, problems, streams } = network;
  await net.apply("first", ...TREE);
  for (const filter of [0, 0, 2]) network.open(filter);
  network.settle(0);
  await net.clock.advance(1000);
  await net.apply("first", device(B, false));
  network.settle(0);
  const list = network.list();
  expect(list).toHaveLength(1);
  for (const stream of streams) stream.expectList(list);
  await net.apply("first", device(C, false));
  expect(runToEnd(problems.newest()).problems).toHaveLength(2);
  network.settle(1);
  for (const stream of streams) stream.expectList(list);
  problems.stop();
});
