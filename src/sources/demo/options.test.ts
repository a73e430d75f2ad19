import { describe, expect, test } from "bun:test";
import { parseDemoSpec } from "./options.ts";

describe("a valid demo spec", () => {
  const cases: [string, object][] = [
    ["", {}],
    ["devices=10", { devices: 10 }],
    ["devices=10,hosts=0,churn=0.5,seed=7", { devices: 10, hosts: 0, churn: 0.5, seed: 7 }],
    [" seed = 2 , devices=1,", { seed: 2, devices: 1 }],
    ["churn=0", { churn: 0 }],
  ];
  for (const [text, options] of cases) {
    test(JSON.stringify(text), () => expect(parseDemoSpec(text)).toEqual({ ok: true, options }));
  }
});

describe("an invalid demo spec", () => {
  const cases: [string, string, string][] = [
    ["device=10", "device", "is not an option, did you mean devices?"],
    ["colour=red", "colour", "is not an option (known: devices, hosts, churn, seed)"],
    ["devices", "devices", "must be a number, as in devices=10"],
    ["devices=", "devices", "must be a number, as in devices=10"],
    ["devices=ten", "devices", "must be a number, as in devices=10"],
    ["hosts=-1", "hosts", "must be a number, as in hosts=10"],
    ["hosts=1e9", "hosts", "must be a number, as in hosts=10"],
    ["devices=0", "devices", "must be >= 1"],
    ["devices=50001", "devices", "must be <= 50000"],
    ["hosts=2.5", "hosts", "must be integer"],
    ["devices=1,devices=2", "devices", "is given twice"],
    ["constructor=1", "constructor", "is not an option (known: devices, hosts, churn, seed)"],
  ];
  for (const [text, field, message] of cases) {
    test(JSON.stringify(text), () =>
      expect(parseDemoSpec(text)).toEqual({ ok: false, fault: { field, message } }),
    );
  }
});
