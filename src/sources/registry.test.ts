import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
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
      { type: "openflow", listen: "0.0.0.0:6653", forwarding: "none" },
      { kind: "openflow", name: "openflow" },
    ],
    [
      { type: "http", url: "http://127.0.0.1:9000/network.json", intervalSeconds: 30 },
      { kind: "http", name: "http" },
    ],
    [
      { type: "exec", command: ["./list-network"], environment: { TOKEN: "x" } },
      { kind: "exec", name: "exec" },
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

describe("the options that every kind has", () => {
  const cases: [object, object][] = [
    [{}, { role: "observed", merge: true }],
    [{ role: "intended" }, { role: "intended", merge: true }],
    [
      { role: "observed", merge: false, withdrawAfterSeconds: 60 },
      { role: "observed", merge: false, withdrawAfterSeconds: 60 },
    ],
  ];
  for (const kind of ["demo", "file"]) {
    for (const [options, expected] of cases) {
      test(`${kind} ${JSON.stringify(options)}`, () => {
        const own = kind === "file" ? { path: "net.yaml" } : {};
        expect(createSource({ type: kind, ...own, ...options }, context)).toMatchObject({
          ok: true,
          options: expected,
        });
      });
    }
  }
});

describe("an invalid entry is rejected", () => {
  const cases: [unknown, string, RegExp][] = [
    [null, "", /must be keys and values/],
    [["demo"], "", /must be keys and values/],
    [{}, "type", /is required \(one of controller, demo/],
    [{ type: "dmeo" }, "type", /dmeo is not a kind of source; did you mean demo\?/],
    [{ type: "constructor" }, "type", /is not a kind of source/],
    [{ type: "demo", name: "" }, "name", /must be up to 63/],
    [{ type: "demo", name: "a b" }, "name", /must be up to 63/],
    [{ type: "demo", devcies: 3 }, "devcies", /unknown key; did you mean devices\?/],
    [{ type: "demo", devices: 0 }, "devices", /must be a whole number from 1 to 50000/],
    [{ type: "demo", devices: "many" }, "devices", /must be a whole number from 1 to 50000/],
    [
      { type: "openflow", forwarding: "none", lsiten: "6653" },
      "lsiten",
      /unknown key; did you mean listen\?/,
    ],
    [{ type: "openflow", forwarding: "none", tls: { cert: "c" } }, "tls.key", /is required/],
    [
      { type: "openflow" },
      "forwarding",
      /^is required; must be bridge \(the switches are programmed to forward .*\) or none \(another controller programs them; .*\)$/,
    ],
    [{ type: "file" }, "path", /is required/],
    [{ type: "file", path: "" }, "path", /must be the path of a file/],
    [{ type: "exec" }, "command", /is required/],
    [{ type: "exec", command: [] }, "command", /must be a list of a program and its arguments/],
    [{ type: "exec", command: [""] }, "command", /must be a list of a program and its arguments/],
    [{ type: "exec", command: "ls -l" }, "command", /must be a list of a program and its arguments/],
    [{ type: "exec", command: ["a\0b"] }, "command.0", /must be text without a NUL character/],
    [
      { type: "exec", command: ["a"], environment: { "A-B": "x" } },
      "environment",
      /must be names and values/,
    ],
    [{ type: "exec", command: ["a"], environment: { A: 1 } }, "environment", /must be names and values/],
    [
      { type: "exec", command: ["a"], timeoutSeconds: 0 },
      "timeoutSeconds",
      /must be a whole number from 1 to/,
    ],
    [{ type: "http" }, "url", /is required/],
    [{ type: "http", url: "http://a:b@c/" }, "url", /without a user name and password/],
    [
      { type: "http", url: "http://c/", intervalSeconds: 0 },
      "intervalSeconds",
      /must be a whole number from 1/,
    ],
    [
      { type: "openflow", forwarding: "none", listen: "nowhere" },
      "listen",
      /must be \[HOST:\]PORT, such as 6653/,
    ],
    [
      { type: "openflow", forwarding: "none", listen: "70000" },
      "listen",
      /must be \[HOST:\]PORT, such as 6653/,
    ],
    [{ type: "demo", role: "planned" }, "role", /^must be one of observed, intended$/],
    [{ type: "demo", merge: "no" }, "merge", /^must be true or false$/],
    [{ type: "demo", withdrawAfterSeconds: 0 }, "withdrawAfterSeconds", /^must be a whole number from 1 to/],
    [
      { type: "demo", withdrawAfterSecond: 5 },
      "withdrawAfterSecond",
      /unknown key; did you mean withdrawAfterSeconds\?/,
    ],
    [{ type: "file", path: "a", rloe: "intended" }, "rloe", /unknown key; did you mean role\?/],
  ];
  for (const [entry, field, message] of cases) {
    test(JSON.stringify(entry), () => {
      const result = createSource(entry, context);
      if (result.ok) throw new Error("was accepted");
      const [fault, ...others] = result.faults;
      expect(fault?.path.join(".")).toBe(field);
      expect(fault?.message).toMatch(message);
      expect(others).toEqual([]);
    });
  }
});

test("all faults of an entry are reported", () => {
  const result = createSource({ type: "demo", devices: 0, hots: 1 }, context);
  expect(result.ok ? [] : result.faults.map(({ path }) => path)).toEqual([["devices"], ["hots"]]);
});

test("all faults are reported at once, and two sources cannot have the same name", () => {
  const entries = [{ type: "demo" }, { type: "demo" }, { type: "x" }, { type: "file", path: "a", name: "b" }];
  expect(createSources(entries, context)).toMatchObject({
    ok: false,
    faults: [
      { index: 1, path: ["name"], message: "demo is already the name of another source" },
      { index: 2, path: ["type"] },
    ],
  });
  expect(createSources([entries[0], entries[3]], context)).toMatchObject({
    ok: true,
    sources: [{ kind: "demo" }, { kind: "file" }],
  });
});
