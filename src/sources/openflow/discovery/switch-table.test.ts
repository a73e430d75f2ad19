import { expect, test } from "bun:test";
import { PortMacs } from "./switch-table.ts";

const MAC = "02:00:00:00:00:01";

test("the port MAC of a switch counts at that switch only, and everywhere when the switch is listed", () => {
  const macs = new PortMacs();
  macs.add("of:1", false, MAC);
  expect([macs.has("of:1", MAC), macs.has("of:2", MAC)]).toEqual([true, false]);
  macs.add("of:3", true, MAC);
  expect(macs.has("of:2", MAC)).toBe(true);
  macs.remove("of:3", true, MAC);
  expect([macs.has("of:1", MAC), macs.has("of:2", MAC)]).toEqual([true, false]);
});

test("a MAC stays until the last port that has it is removed", () => {
  const macs = new PortMacs();
  macs.add("of:1", false, MAC);
  macs.add("of:1", false, MAC);
  macs.remove("of:1", false, MAC);
  expect(macs.has("of:1", MAC)).toBe(true);
  macs.remove("of:1", false, MAC);
  expect(macs.has("of:1", MAC)).toBe(false);
});
