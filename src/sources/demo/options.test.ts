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
    test(JSON.stringify(text), () => expect(parseDemoSpec(text)).toMatchObject({ ok: true, options }));
  }
});

describe("an invalid demo spec", () => {
  const cases: [text: string, name: string, message: string][] = [
    ["device=10", "device", "unknown key; did you mean devices?"],
    ["colour=red", "colour", "unknown key; known here: devices, hosts, churn, seed"],
    ["devices", "devices", "must be a whole number from 1 to 50000"],
    ["devices=", "devices", "must be a whole number from 1 to 50000"],
    ["devices=ten", "devices", "must be a whole number from 1 to 50000"],
    ["hosts=-1", "hosts", "must be a whole number from 0 to 2000000"],
    ["hosts=1e9", "hosts", "must be a whole number from 0 to 2000000"],
    ["devices=0", "devices", "must be a whole number from 1 to 50000"],
    ["devices=50001", "devices", "must be a whole number from 1 to 50000"],
    ["hosts=2.5", "hosts", "must be a whole number from 0 to 2000000"],
    ["devices=1,devices=2", "devices", "is given twice"],
    ["constructor=1", "constructor", "unknown key; known here: devices, hosts, churn, seed"],
  ];
  for (const [text, name, message] of cases) {
    test(JSON.stringify(text), () =>
      expect(parseDemoSpec(text)).toMatchObject({ ok: false, faults: [{ path: [name], message }] }),
    );
  }
});
