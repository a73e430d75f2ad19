/** The network against its plan, over HTTP: what is compared, the states, since when, and where what is missing is shown. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { type Document, type Json, MergedService } from "./merged-service.ts";

const SOURCES = [{ name: "seen" }, { name: "plan", role: "intended" }] as const;
const link = (src: string, dst: string): Json => ({
  src: { device: src, port: 1 },
  dst: { device: dst, port: 1 },
});
const SEEN: Document = {
  devices: [
    { id: "of:0000000000000001", type: "SWITCH", serial: "S1", annotations: { name: "leaf1", rack: "7" } },
    { id: "of:0000000000000002", serial: "S2" },
    { id: "of:0000000000000003", serial: "S3" },
  ],
  ports: [
    { element: "of:0000000000000001", port: 1, annotations: { portName: "eth1" } },
    { element: "of:0000000000000001", port: 2, annotations: { portName: "eth2" } },
    { element: "of:0000000000000002", port: 1 },
  ],
  links: [link("of:0000000000000001", "of:0000000000000002")],
  hosts: [{ mac: "00:00:00:00:00:01", locations: [{ elementId: "of:0000000000000001", port: 2 }] }],
};
/** The third device is not planned; leaf4 is not there; of port 2 of leaf1 nothing was planned. */
const PLAN: Document = {
  devices: [
    { id: "plan:leaf1", serial: "s1", type: "ROUTER", annotations: { name: "leaf1" }, aliases: ["plan:old"] },
    { id: "plan:leaf2", serial: "S2", mfr: "Edgecore" },
    { id: "plan:leaf4", serial: "S4", type: "SWITCH" },
  ],
  ports: [{ element: "plan:leaf1", port: 70, annotations: { portName: "eth1" } }],
  links: [{ src: { device: "plan:leaf1", port: 70 }, dst: { device: "plan:leaf4", port: 1 } }],
};
const [ONE = "", TWO = "", THREE = ""] = [1, 2, 3].map((n) => `of:000000000000000${n}`);
const stateOf = ({ id, drift }: { id: string; drift?: { state: string } }) => [id, drift?.state];

describe("a network that is not as planned", () => {
  let merged: MergedService;
  beforeAll(async () => {
    merged = await MergedService.start(SOURCES, { seen: SEEN, plan: PLAN });
    await until(async () => (await merged.ids("devices", "?drift=any")).length === 4, {
      what: "the comparison",
    });
  });
  afterAll(() => merged?.[Symbol.asyncDispose]());

  test("each device has its state, and only the fields of the plan are compared", async () => {
    const devices = await merged.list("devices", "?drift=any");
    expect(devices.map(stateOf)).toEqual([
      [ONE, "differs"],
      [TWO, "differs"],
      [THREE, "unplanned"],
      ["plan:leaf4", "missing"],
    ]);
    expect(devices[0]?.drift?.fields).toEqual({ type: { intended: "ROUTER", observed: "SWITCH" } });
    expect(devices[1]?.drift?.fields).toEqual({ mfr: { intended: "Edgecore", observed: "unknown" } });
    for (const { drift } of devices) expect(Date.parse(drift?.since ?? "")).toBeGreaterThan(0);
  });

  test("the plan gives no id, no alias, no field and no source", async () => {
    const [one] = await merged.list("devices");
    expect(one).toMatchObject({ id: ONE, type: "SWITCH", sources: ["seen"] });
    expect(one).not.toHaveProperty("aliases");
    for (const alias of ["plan:leaf1", "plan:old"])
      expect(await merged.status(`/devices/${alias}`)).toBe(404);
    const { claims } = await merged.get<{ claims: Json[] }>(`/devices/${ONE}?explain=true`);
    expect(claims).toMatchObject([
      { source: "seen", role: "observed" },
      { source: "plan", role: "intended", id: "plan:leaf1" },
    ]);
  });

  test("ports are judged where the plan lists them, and hosts not at all", async () => {
    const ports = await merged.list("ports", "?drift=any");
    expect(ports.map(({ element, port, drift }) => [element, port, drift?.state])).toEqual([
      [ONE, "2", "unplanned"],
    ]);
    expect(await merged.list("hosts", "?drift=any")).toEqual([]);
    expect((await merged.list("links", "?drift=any")).map(({ drift }) => drift?.state).sort()).toEqual([
      "missing",
      "unplanned",
    ]);
  });

  test("one GET says whether the network is as drawn, and the metric says the same", async () => {
    const expected = {
      devices: { missing: 1, unplanned: 1, differs: 2 },
      ports: { missing: 0, unplanned: 1, differs: 0 },
      links: { missing: 1, unplanned: 1, differs: 0 },
      hosts: { missing: 0, unplanned: 0, differs: 0 },
    };
    expect(await merged.get("/topology?drift=any")).toMatchObject({ devices: 3, links: 1, drift: expected });
    const metrics = await (await merged.service.fetch("/metrics")).text();
    for (const [resource, states] of Object.entries(expected)) {
      for (const [state, count] of Object.entries(states))
        expect(metrics).toContain(`gazetteer_drift{resource="${resource}",state="${state}"} ${count}\n`);
    }
  });

  test("what is missing is shown where drift names it and by its id, and nowhere else", async () => {
    expect(await merged.get("/devices/plan:leaf4")).toMatchObject({
      sources: [],
      available: false,
      drift: { state: "missing" },
    });
    expect(await merged.ids("devices")).toEqual([ONE, TWO, THREE]);
    expect(await merged.ids("devices", "?drift=unplanned,differs")).toEqual([ONE, TWO, THREE]);
    expect(await merged.ids("devices", "?q=leaf4")).toEqual([]);
    expect(await merged.get(`/paths/${ONE}/plan:leaf4`)).toMatchObject({ paths: [] });
    expect(await merged.get("/topology")).toMatchObject({ devices: 3, links: 1, clusters: 3 });
    expect(await merged.get("/topology")).not.toHaveProperty("drift");
  });

  test("since stays while the state does, the plan is met, and the past has what was", async () => {
    const driftOf = async (id: string, query = "") =>
      (await merged.list("devices", `?drift=any${query}`)).find((device) => device.id === id)?.drift;
    const before = await merged.revision();
    const { since } = (await driftOf(ONE)) ?? {};
    const [first = {}, second = {}, ...others] = SEEN.devices ?? [];
    const withType = (type: string) => ({ ...SEEN, devices: [{ ...first, type }, second, ...others] });
    merged.report("seen", withType("FIREWALL"));
    await until(async () => JSON.stringify(await driftOf(ONE)).includes("FIREWALL"), {
      what: "the other value",
    });
    expect((await driftOf(ONE))?.since).toBe(since ?? "");
    const leaf4 = { id: "of:0000000000000004", serial: "S4" };
    const met = withType("ROUTER");
    merged.report("seen", { ...met, devices: [...met.devices, leaf4] });
    await until(async () => (await driftOf(ONE)) === undefined, { what: "the plan to be met" });
    expect(await merged.ids("devices", "?drift=missing")).toEqual([]);
    expect(await merged.status("/devices/plan:leaf4")).toBe(404);
    expect(await merged.get("/devices/of:0000000000000004")).not.toHaveProperty("drift");
    expect((await driftOf(ONE, `&at=${before}`))?.since).toBe(since ?? "");
    expect(await merged.ids("devices", `?drift=missing&at=${before}`)).toEqual(["plan:leaf4"]);
    const { changes } = await merged.get<{ changes: Json[] }>(`/devices?drift=missing&diff=${before}..`);
    expect(changes).toMatchObject([{ event: "removed", value: { id: "plan:leaf4" } }]);
  });

  test("the alias onos shows nothing of it", async () => {
    expect(JSON.stringify(await merged.list("devices"))).toContain('"drift"');
    merged.configure(SOURCES, { aliases: ["onos"] });
    await merged.restart();
    const response = await merged.service.fetch("/onos/v1/devices");
    const text = await response.text();
    expect(text).toContain(THREE);
    expect(text).not.toContain("drift");
  });
});

test("nothing is judged before each observed source has synced once", async () => {
  const sources = [...SOURCES, { name: "late" }];
  await using merged = await MergedService.start(sources, { seen: SEEN, plan: PLAN });
  await merged.untilIds([ONE, TWO, THREE]);
  await merged.untilStatus("plan", "synced");
  expect(await merged.ids("devices", "?drift=any")).toEqual([]);
  merged.report("late", {});
  await until(async () => (await merged.ids("devices", "?drift=any")).length === 4, {
    what: "the comparison",
  });
});

test("a stream of drift shows what goes missing and what is back", async () => {
  await using merged = await MergedService.start(SOURCES, { seen: SEEN, plan: PLAN });
  await until(async () => (await merged.ids("devices", "?drift=any")).length === 4, {
    what: "the comparison",
  });
  const abort = new AbortController();
  const response = await merged.service.fetch("/controller/v1/devices?drift=missing", {
    headers: { accept: "text/event-stream" },
    signal: abort.signal,
  });
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  })().catch(() => {});
  await until(() => text.includes("event: synced"), { what: "the snapshot" });
  const [first = {}, ...others] = SEEN.devices ?? [];
  merged.report("seen", { ...SEEN, devices: others });
  await until(() => /^event: added\n(?:id: .*\n)?data: .*"id":"plan:leaf1"/m.test(text), {
    what: "leaf1 as missing",
  });
  merged.report("seen", { ...SEEN, devices: [first, ...others] });
  await until(() => /^event: removed\n(?:id: .*\n)?data: .*"id":"plan:leaf1"/m.test(text), {
    what: "leaf1 as found",
  });
  abort.abort();
  await reading;
});

test("a plan without its source judges nothing any more", async () => {
  await using merged = await MergedService.start(SOURCES, { seen: SEEN, plan: PLAN });
  await until(async () => (await merged.ids("devices", "?drift=any")).length === 4, {
    what: "the comparison",
  });
  merged.configure([{ name: "seen" }]);
  await merged.restart();
  await until(async () => (await merged.ids("devices", "?drift=any")).length === 0, { what: "no drift" });
  expect(await merged.ids("devices")).toEqual([ONE, TWO, THREE]);
});
