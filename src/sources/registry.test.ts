import { describe, expect, test } from "bun:test";
import { ManualClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { createSource, createSources } from "./registry.ts";

const context = { clock: new ManualClock(), log: silentLogger };

describe("a valid entry creates a source", () => {
  const cases: [object, { kind: string; name: string }][] = [
    [{ type: "demo" }, { kind: "demo", name: "demo" }],
    [
      { type: "demo", name: "lab-1", devices: 10, churn: 0 },
      { kind: "demo", name: "lab-1" },
    ],
    [
      { type: "openflow", listen: "0.0.0.0:6653" },
      { kind: "openflow", name: "openflow" },
    ],
    [
      { type: "file", path: "net.yaml" },
      { kind: "file", name: "file" },
    ],
  ];
  for (const [entry, { kind, name }] of cases) {
    test(JSON.stringify(entry), () => {
      expect(createSource(entry, context)).toMatchObject({ ok: true, kind, source: { name } });
    });
  }
});

describe("an invalid entry is rejected", () => {
  const cases: [unknown, string, RegExp][] = [
    [null, "", /must be an object/],
    [["demo"], "", /must be an object/],
    [{}, "type", /is required \(one of demo, file/],
    [{ type: "dmeo" }, "type", /dmeo is not a kind of source, did you mean demo\?/],
    [{ type: "constructor" }, "type", /is not a kind of source/],
    [{ type: "demo", name: "" }, "name", /must be up to 63/],
    [{ type: "demo", name: "a b" }, "name", /must be up to 63/],
    [{ type: "demo", devcies: 3 }, "devcies", /is not an option, did you mean devices\?/],
    [{ type: "demo", devices: 0 }, "devices", />= 1/],
    [{ type: "demo", devices: "many" }, "devices", /must be integer/],
    [{ type: "openflow", lsiten: "6653" }, "lsiten", /is not an option, did you mean listen\?/],
    [{ type: "openflow", tls: { cert: "c" } }, "tls.key", /is required/],
    [{ type: "file" }, "path", /is required/],
    [{ type: "file", path: "" }, "path", /fewer than 1/],
  ];
  for (const [entry, field, message] of cases) {
    test(JSON.stringify(entry), () => {
      const result = createSource(entry, context);
      if (result.ok) throw new Error("was accepted");
      expect(result.fault.field).toBe(field);
      expect(result.fault.message).toMatch(message);
    });
  }
});

test("all faults are reported at once, and two sources cannot have the same name", () => {
  const entries = [{ type: "demo" }, { type: "demo" }, { type: "x" }, { type: "file", path: "a", name: "b" }];
  expect(createSources(entries, context)).toMatchObject({
    ok: false,
    faults: [
      { index: 1, field: "name", message: "demo is already the name of another source" },
      { index: 2, field: "type" },
    ],
  });
  expect(createSources([entries[0], entries[3]], context)).toMatchObject({
    ok: true,
    sources: [{ kind: "demo" }, { kind: "file" }],
  });
});
