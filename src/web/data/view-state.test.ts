import { expect, test } from "bun:test";
import fc from "fast-check";
import { PROBLEM_SEVERITIES } from "../../model/problem-kinds.ts";
import {
  DEFAULT_STATE,
  type EntityRef,
  formatState,
  LAYERS,
  parseState,
  SPEEDS,
  VIEWS,
  type ViewState,
} from "./view-state.ts";

const read = (address: string): ViewState => parseState(new URL(address, "http://x").search);

test("the default state has the address /", () => {
  expect(formatState(DEFAULT_STATE)).toBe("/");
  expect(read("/")).toEqual(DEFAULT_STATE);
});

test("ids stay readable in the address", () => {
  const selected: EntityRef = { kind: "hosts", id: "00:00:00:00:00:01/None" };
  expect(formatState({ ...DEFAULT_STATE, selected })).toBe("/?selected=hosts:00:00:00:00:00:01/None");
});

test("parsing the address of a state returns that state", () => {
  const text = fc.string({ minLength: 1, unit: "binary" }).map((s) => s.toWellFormed());
  const word = fc.stringMatching(/^[A-Z_]{1,10}$/);
  const ref: fc.Arbitrary<EntityRef> = fc.record({
    kind: fc.constantFrom("devices", "links", "hosts"),
    id: text,
  });
  const moment = fc.constantFrom("2026-11-15T01:00:00Z", "42");
  const number = fc.integer({ min: -9999, max: 9999 }).map((n) => n / 100);
  const state: fc.Arbitrary<ViewState> = fc
    .record({
      view: fc.constantFrom(...VIEWS),
      selected: fc.option(ref, { nil: undefined }),
      types: fc.array(word),
      states: fc.array(word),
      sources: fc.array(text),
      around: fc.option(text, { nil: undefined }),
      hops: fc.integer({ min: 1, max: 9 }),
      path: fc.option(fc.tuple(ref, ref), { nil: undefined }),
      layer: fc.constantFrom(undefined, ...LAYERS),
      metric: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      expanded: fc.array(text),
      at: fc.option(moment, { nil: undefined }),
      compare: fc.option(moment, { nil: undefined }),
      play: fc.boolean(),
      speed: fc.constantFrom(...SPEEDS),
      span: fc.constantFrom("15min", "1h", "30d"),
      changes: fc.boolean(),
      problems: fc.boolean(),
      severities: fc.subarray([...PROBLEM_SEVERITIES]),
      acknowledged: fc.boolean(),
      problem: fc.option(text, { nil: undefined }),
      wall: fc.boolean(),
      filter: fc.oneof(fc.constant(""), text),
      sort: fc.oneof(fc.constant(""), text),
      saved: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      camera: fc.option(
        fc.record({ device: text, dx: number, dy: number, span: fc.constantFrom(0.01, 84, 1600) }),
        { nil: undefined },
      ),
    })
    // Hops are written only together with a neighbourhood, and only the past is played.
    .map((one) => ({
      ...one,
      hops: one.around === undefined ? 1 : one.hops,
      play: one.play && one.at !== undefined,
    }));
  fc.assert(fc.property(state, (one) => expect(read(formatState(one))).toEqual(one)));
});

test.each([
  ["42", "42"],
  ["2026-11-15T01:00:00Z", "2026-11-15T01:00:00Z"],
  ["2026-11-15T01:00:00.250Z", "2026-11-15T01:00:00.250Z"],
  ["2026-11-15T03:00:00+02:00", "2026-11-15T01:00:00Z"],
  ["2026-11-15T03:00:00%2B02:00", "2026-11-15T01:00:00Z"],
  ["2026-11-15", "2026-11-15T00:00:00Z"],
  ["yesterday", undefined],
  ["15", "15"],
])("at=%s is the moment %s", (text, moment) => {
  expect(read(`/?at=${text}`).at).toBe(moment);
});

test("values that cannot be parsed are ignored, and the others are kept", () => {
  expect(read("/?view=moon&selected=x&at=soon&hops=99&camera=1,2,3&type=SWITCH&unknown=1")).toEqual({
    ...DEFAULT_STATE,
    types: ["SWITCH"],
  });
});
