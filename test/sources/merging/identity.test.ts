/** Which devices of two sources are one, over HTTP: each rule of identity, values that are not real, and copies of them. */
import { describe, expect, test } from "bun:test";
import { type Document, type Entity, type Json, MergedService } from "./merged-service.ts";

/** A device with a value of the rule, and the same value in another spelling. */
const RULES: readonly (readonly [rule: string, value: Json, otherSpelling: Json])[] = [
  ["chassisId", { chassisId: "0A:BB:CC:00:00:01" }, { chassisId: "0abb.cc00.0001" }],
  ["serial", { serial: "FOC21x" }, { serial: "foc21X" }],
  [
    "managementAddress",
    { annotations: { managementAddress: "2001:db8::1" } },
    { annotations: { managementAddress: "2001:0db8:0:0::1" } },
  ],
  ["systemName", { annotations: { name: "Leaf1" } }, { annotations: { name: "leaf1" } }],
];
const SOURCES = [{ name: "first" }, { name: "second" }];
const device = (id: string, value: Json = {}): Json => ({ id, ...value });
const only = (...devices: Json[]): Document => ({ devices });
const conflictOf = (devices: readonly Entity[], id: string) =>
  devices.find((each) => each.id === id)?.annotations?.conflict;

describe.each(RULES)("%s", (rule, value, spelling) => {
  const settings = { identity: [rule] };

  test("joins devices of two sources under the id of the first, with the other as alias", async () => {
    const documents = { first: only(device("a:1", value)), second: only(device("b:1", spelling)) };
    await using merged = await MergedService.start(SOURCES, documents, settings);
    const [joined] = await merged.untilIds(["a:1"]);
    expect(joined).toMatchObject({ sources: ["first", "second"], aliases: ["b:1"] });
    expect(await merged.get("/devices/b:1")).toMatchObject({ id: "a:1" });
  });

  test("a copy in the same source undoes the match and is flagged, in any order of arrival", async () => {
    const [one, copy, other] = [device("a:1", value), device("a:2", spelling), device("b:1", value)];
    await using merged = await MergedService.start(
      SOURCES,
      { first: only(one), second: only(other) },
      settings,
    );
    await merged.untilIds(["a:1"]);
    merged.report("first", only(one, copy));
    const afterCopy = await merged.untilIds(["a:1", "a:2", "b:1"]);
    for (const id of ["a:1", "a:2", "b:1"]) expect(conflictOf(afterCopy, id)).toBeString();
    for (const { aliases = [] } of afterCopy) expect(aliases).not.toContain("b:1");
    merged.report("first", only(one));
    const again = await merged.untilIds(["a:1"]);
    expect(conflictOf(again, "a:1")).toBeUndefined();
    // The copy is there first, and then the device that both could be.
    merged.report("second", {});
    await merged.untilDevices(([first]) => first?.sources.length === 1, "the second source to withdraw");
    merged.report("first", only(copy, one));
    await merged.untilIds(["a:1", "a:2"]);
    merged.report("second", only(other));
    const copiedBefore = await merged.untilIds(["a:1", "a:2", "b:1"]);
    for (const id of ["a:1", "a:2", "b:1"])
      expect(conflictOf(copiedBefore, id)).toBe(conflictOf(afterCopy, id) ?? "");
  });

  test("merge: false is joined by equal id, never by the rule", async () => {
    const untrusted = [{ name: "first" }, { name: "second", merge: false }];
    const documents = {
      first: only(device("a:1", value)),
      second: only(device("b:1", spelling), device("A:1")),
    };
    await using merged = await MergedService.start(untrusted, documents, settings);
    const devices = await merged.untilIds(["a:1", "b:1"]);
    expect(devices.map(({ sources }) => sources)).toEqual([["first", "second"], ["second"]]);
    expect(conflictOf(devices, "a:1")).toBeUndefined();
  });
});

test("by default a management address and a name join nothing", async () => {
  const value = { annotations: { name: "leaf1", managementAddress: "192.0.2.1" } };
  const documents = { first: only(device("a:1", value)), second: only(device("b:1", value)) };
  await using merged = await MergedService.start(SOURCES, documents);
  await merged.untilIds(["a:1", "b:1"]);
});

test("a value that is not real joins nothing", async () => {
  const values = ["0", "unknown", "None", "00000000", "To be filled by O.E.M."];
  const documents = {
    first: only(...values.map((serial, i) => device(`a:${i}`, { serial, chassisId: "00:00:00:00:00:00" }))),
    second: only(...values.map((serial, i) => device(`b:${i}`, { serial, chassisId: "0" }))),
  };
  await using merged = await MergedService.start(SOURCES, documents);
  const ids = ["a", "b"].flatMap((source) => values.map((_, i) => `${source}:${i}`));
  const devices = await merged.untilIds(ids);
  expect(devices.filter(({ annotations }) => annotations?.conflict)).toEqual([]);
});

test("a match with two candidates merges nothing and is flagged", async () => {
  const documents = {
    first: only(device("a:1", { serial: "S1" }), device("a:2", { chassisId: "chassis-2" })),
    second: only(device("b:1", { serial: "S1", chassisId: "chassis-2" })),
  };
  await using merged = await MergedService.start(SOURCES, documents);
  const devices = await merged.untilIds(["a:1", "a:2", "b:1"]);
  for (const id of ["a:1", "a:2", "b:1"]) expect(conflictOf(devices, id)).toBeString();
});

test("three sources: joined through the one in the middle, under the first id", async () => {
  const documents = {
    first: only(device("a:1", { serial: "S1" })),
    second: only(device("b:1", { serial: "S1", chassisId: "chassis-1" })),
    third: only(device("c:1", { chassisId: "chassis-1", mfr: "Third" })),
  };
  await using merged = await MergedService.start([...SOURCES, { name: "third" }], documents);
  const [joined] = await merged.untilIds(["a:1"]);
  expect(joined).toMatchObject({
    sources: ["first", "second", "third"],
    aliases: ["b:1", "c:1"],
    mfr: "Third",
    serial: "S1",
  });
});

describe("a source that is not trusted", () => {
  const trusted = {
    first: only(device("a:1", { serial: "S1" })),
    second: only(device("b:1", { serial: "S1" })),
  };
  const untrusted = [...SOURCES, { name: "open", merge: false }];

  test("takes no id of another device by an alias; the alias is its own again when the other is gone", async () => {
    const plan = { name: "plan", role: "intended" } as const;
    const documents = {
      ...trusted,
      open: only(device("c:1", { aliases: ["a:1", "B:1", "p:1", "c:2"] })),
      plan: only(device("p:1")),
    };
    await using merged = await MergedService.start([...untrusted, plan], documents);
    const isIsolated = (all: readonly Entity[]) =>
      all.length === 2 && all.find(({ id }) => id === "c:1")?.aliases?.join() === "c:2";
    await merged.untilDevices(isIsolated, "only its own alias");
    expect(await merged.get("/devices/b:1")).toMatchObject({ id: "a:1", aliases: ["b:1"] });
    expect(await merged.get("/devices/p:1")).toMatchObject({ id: "p:1", drift: { state: "missing" } });
    merged.report("second", {});
    merged.report("plan", {});
    const isFree = (all: readonly Entity[]) =>
      all.find(({ id }) => id === "c:1")?.aliases?.join() === "B:1,c:2,p:1";
    await merged.untilDevices(isFree, "the aliases that are no ids any more");
    merged.report("second", trusted.second);
    merged.report("plan", documents.plan);
    await merged.untilDevices(isIsolated, "only its own alias again");
  });

  test("undoes a match by claiming both ids, which is flagged, and makes none", async () => {
    const both = only(device("a:1", { serial: "S1" }), device("B:1", { serial: "S1" }));
    await using merged = await MergedService.start(untrusted, { ...trusted, open: both });
    const devices = await merged.untilIds(["a:1", "b:1"]);
    for (const [id, other] of [
      ["a:1", "b:1 of second"],
      ["b:1", "a:1 of first"],
    ] as const)
      expect(conflictOf(devices, id)).toBe(`not joined with ${other}: two devices of open would be one`);
    expect(devices.map(({ sources }) => sources)).toEqual([
      ["first", "open"],
      ["second", "open"],
    ]);
    merged.report("second", only(device("b:1", { serial: "S2" })));
    merged.report("open", only(device("a:1", { serial: "S2" })));
    const isApart = (all: readonly Entity[]) => all.length === 2 && !all.some((d) => d.annotations?.conflict);
    await merged.untilDevices(isApart, "two devices without a conflict");
  });
});
