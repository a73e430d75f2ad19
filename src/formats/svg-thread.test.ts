import { describe, expect, test } from "bun:test";
import { demoGraph } from "../../test/support/demo-graph.ts";
import { degradedCampus, hostileGraph, leafSpine, mesh } from "../../test/support/sample-network.ts";
import { until } from "../../test/support/until.ts";
import { Scheduler } from "../lib/scheduler.ts";
import { runToEnd, type Steps, waitFor, withoutPauses } from "../lib/steps.ts";
import { countHosts, deviceIdsOf, type TopologyGraph } from "./graph.ts";
import { renderSvg } from "./svg.ts";
import { SvgThread, type ThreadDrawing } from "./svg-thread.ts";

function* draw(drawing: ThreadDrawing, graph: TopologyGraph): Steps<void> {
  const counts = yield* countHosts(graph, yield* deviceIdsOf(graph));
  const devices = [...withoutPauses(graph.devices)];
  yield* drawing.send(
    "devices",
    devices.map((device) => JSON.stringify([device, counts.get(device.id) ?? 0])),
  );
  yield* drawing.send(
    "links",
    [...withoutPauses(graph.links)].map((link) => JSON.stringify(link)),
  );
  yield* drawing.draw(graph.topology, graph.revision);
}

function* readAll(drawing: ThreadDrawing): Steps<string> {
  const chunks: Uint8Array[] = [];
  for (const chunk of drawing) {
    if (chunk instanceof Promise) yield* waitFor(chunk);
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function* drawAndRead(drawing: ThreadDrawing, graph: TopologyGraph): Steps<string> {
  yield* draw(drawing, graph);
  return yield* readAll(drawing);
}

const run = async <Result>(steps: Steps<Result>): Promise<Result> => new Scheduler().run("alice", steps);
const atOnce = (graph: TopologyGraph): string => [...withoutPauses(renderSvg(graph))].join("");

/** A thread that runs this code. */
const workerOf = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

describe("the bytes are those of the same drawing made at once", () => {
  test.each([
    ["demo", demoGraph()],
    ["campus", degradedCampus()],
    ["leaf and spine", leafSpine(4, 150)],
    ["mesh", mesh(7, 7)],
    ["hostile", hostileGraph()],
  ])("%s", async (_, graph) => {
    using thread = new SvgThread();
    expect(await run(drawAndRead(thread.begin("alice"), graph))).toBe(atOnce(graph));
  });
});

test("one thread makes several drawings, and ends when there are no more", async () => {
  using thread = new SvgThread({ idleTimeoutMs: 1 });
  const [first, second] = [thread.begin("alice"), thread.begin("bob")];
  await run(draw(first, leafSpine(4, 150)));
  expect(thread.heldBytes("alice")).toBeGreaterThan(0);
  expect(await run(drawAndRead(second, mesh(3, 3)))).toBe(atOnce(mesh(3, 3)));
  expect(await run(readAll(first))).toBe(atOnce(leafSpine(4, 150)));
  expect(thread.heldBytes("alice")).toBe(0);
  await until(() => !thread.isRunning, { what: "the end of the thread" });
  expect(await run(drawAndRead(thread.begin("alice"), mesh(3, 3)))).toBe(atOnce(mesh(3, 3)));
  expect(thread.started).toBe(2);
});

test("a drawing that is closed while it is under way ends its thread, unless somebody reads another one", async () => {
  using thread = new SvgThread({ worker: workerOf("onmessage = () => {}") });
  const drawing = thread.begin("alice");
  const steps = draw(drawing, mesh(3, 3));
  for (let step = steps.next(); step.value === undefined; step = steps.next());
  drawing.return();
  drawing.return();
  expect(thread.isRunning).toBe(false);

  const other = thread.begin("bob");
  const second = thread.begin("alice");
  const secondSteps = draw(second, mesh(3, 3));
  for (let step = secondSteps.next(); step.value === undefined; step = secondSteps.next());
  second.return();
  expect(thread.isRunning).toBe(true);
  other.return();
});

test.each([
  ["throws", "onmessage = () => { throw new Error('broken') }", /broken/],
  ["ends", "onmessage = () => process.exit(1)", /has failed/],
  [
    "reports a failure",
    "onmessage = ({ data }) => postMessage({ type: 'failed', n: data.n, reason: 'no' })",
    /no/,
  ],
])("a thread that %s fails its drawing, and the next drawing has another one", async (_, code, reason) => {
  using thread = new SvgThread({ worker: workerOf(code), idleTimeoutMs: 1 });
  for (const owner of ["alice", "bob"]) {
    const failure = await run(drawAndRead(thread.begin(owner), mesh(3, 3))).catch((error: unknown) => error);
    expect(String(failure)).toMatch(reason);
    await until(() => !thread.isRunning, { what: "the end of the thread" });
  }
  expect(thread.started).toBe(2);
});

test("the service that stops fails what is under way", async () => {
  const thread = new SvgThread();
  const drawing = thread.begin("alice");
  thread[Symbol.dispose]();
  expect(() => runToEnd(draw(drawing, mesh(3, 3)))).toThrow("the service stops");
});
