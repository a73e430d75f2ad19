/** A device that does not answer one source is available while another source sees it, in any order of the sources. */
import { expect, test } from "bun:test";
import type { Device } from "../../src/model/entity.ts";
import { openHarness } from "./harness.ts";

const ID = "lldp:02:00:00:00:00:01";
const SILENT = {
  id: ID,
  available: false,
  hw: "from snmp",
  annotations: { name: "core", unansweredSince: "2026-11-15T01:00:00Z" },
};

for (const [silent, seeing] of [
  ["first", "second"],
  ["second", "first"],
] as const) {
  test(`the source that gets no answer is the ${silent} one`, async () => {
    await using api = await openHarness();
    const state = async () => {
      const { available, hw, annotations } = await api.json<Device>(`devices/${ID}`);
      return [available, hw, annotations.name, annotations.unansweredSince];
    };
    const unavailable = [false, "from snmp", "core", "2026-11-15T01:00:00Z"];
    await api.replace({ devices: [SILENT] }, silent);
    expect(await state()).toEqual(unavailable);
    await api.replace({ devices: [{ id: ID }] }, seeing);
    expect(await state()).toEqual([true, "from snmp", "core", undefined]);
    await api.replace({ devices: [{ id: ID, available: false }] }, seeing);
    expect(await state()).toEqual(unavailable);
    await api.replace({ devices: [{ id: ID, available: true }] }, seeing);
    expect(await state()).toEqual([true, "from snmp", "core", undefined]);
    await api.replace({}, seeing);
    expect(await state()).toEqual(unavailable);
  });
}
