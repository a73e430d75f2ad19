/** Cables from one and from both ends. */
import { describe, expect, test } from "bun:test";
import { bytes } from "../../../../test/support/snmp-agent.ts";
import {
  chassisId,
  ids,
  join,
  linkIds,
  mac,
  switchReport,
  type Wire,
} from "../../../../test/support/snmp-switch.ts";
import { portNumberOfName } from "../../../model/derived-ids.ts";

describe("cables", () => {
  const there = { port: 1, to: 2, toPort: "eth3" };
  const back = { port: 3, to: 1, toPort: "eth1" };

  test("reported by both ends: two links, one a direction", () => {
    const joined = join([switchReport(1, [there]), switchReport(2, [back])]);
    expect(linkIds(joined)).toEqual([
      `${chassisId(1)}/1-${chassisId(2)}/3`,
      `${chassisId(2)}/3-${chassisId(1)}/1`,
    ]);
    expect(joined.claims.links[0]).toEqual({
      src: { device: chassisId(1), port: "1" },
      dst: { device: chassisId(2), port: "3" },
      type: "DIRECT",
      state: "ACTIVE",
      verified: false,
      annotations: { protocol: "LLDP", matchedBy: "src ifIndex; dst ifIndex" },
    });
  });

  test("reported by one end: kept and marked, and it says how the other port was found", () => {
    const joined = join([switchReport(1, [there]), switchReport(2)]);
    expect(linkIds(joined)).toHaveLength(2);
    expect(joined.claims.links[0]?.annotations).toEqual({
      protocol: "LLDP",
      matchedBy: "src ifIndex; dst portId ifName",
      oneSided: "true",
    });
    expect(joined.claims.links[1]?.annotations?.matchedBy).toBe("src portId ifName; dst ifIndex");
  });

  test.each<[string, Wire, string]>([
    ["a MAC address", { ...there, toPort: bytes(mac(2, 3)), toPortSubtype: 3 }, "portId ifPhysAddress"],
    ["a number", { ...there, toPort: "3", toPortSubtype: 7 }, "ifIndex"],
    ["the path through a bridge", { ...there, toPort: "bridge1/eth3" }, "portId end of path, ifName"],
  ])("the other port by %s", (_, wire, how) => {
    const joined = join([switchReport(1, [wire]), switchReport(2)]);
    expect(linkIds(joined)[0]).toBe(`${chassisId(1)}/1-${chassisId(2)}/3`);
    expect(joined.claims.links[0]?.annotations?.matchedBy).toBe(`src ifIndex; dst ${how}`);
  });

  test("what an agent says about its own port counts more than what its neighbour writes", () => {
    const wrong = { ...there, toPort: "eth4" };
    const joined = join([switchReport(1, [wrong]), switchReport(2, [back])]);
    expect(linkIds(joined).sort()).toEqual([
      `${chassisId(1)}/1-${chassisId(2)}/3`,
      `${chassisId(2)}/3-${chassisId(1)}/1`,
    ]);
  });

  test("two unnamed ends are one cable when they are the only ones between two devices", () => {
    const joined = join([
      switchReport(1, [{ ...there, toPort: "?" }]),
      switchReport(2, [{ ...back, toPort: "?" }]),
    ]);
    expect(linkIds(joined)[0]).toBe(`${chassisId(1)}/1-${chassisId(2)}/3`);
    expect(linkIds(joined)).toHaveLength(2);
  });

  test("a port of a polled device that no interface has gets a number from its name", () => {
    const joined = join([switchReport(1, [{ ...there, toPort: "xe-9" }]), switchReport(2)]);
    const port = portNumberOfName("xe-9");
    expect(linkIds(joined)[0]).toBe(`${chassisId(1)}/1-${chassisId(2)}/${port}`);
    const claim = joined.claims.ports.find((each) => each.port === port);
    expect(claim).toMatchObject({ element: chassisId(2), annotations: { portName: "xe-9" } });
  });

  test("parallel cables stay apart", () => {
    const joined = join([
      switchReport(1, [there, { port: 2, to: 2, toPort: "eth4" }]),
      switchReport(2, [back, { port: 4, to: 1, toPort: "eth2" }]),
    ]);
    expect(linkIds(joined)).toHaveLength(4);
    expect(joined.claims.links.every(({ annotations }) => annotations?.oneSided === undefined)).toBe(true);
  });

  test.each([1, 2])("a port that is down at end %d makes it INACTIVE", (device) => {
    const down = { ifOperStatus: { 1: 2, 2: 1, 3: 2, 4: 1 } };
    const joined = join([
      switchReport(1, [there], device === 1 ? down : {}),
      switchReport(2, [back], device === 2 ? down : {}),
    ]);
    expect(joined.claims.links.map(({ state }) => state)).toEqual(["INACTIVE", "INACTIVE"]);
  });

  test("a neighbour that is gone takes its link with it", () => {
    expect(linkIds(join([switchReport(1), switchReport(2)]))).toEqual([]);
  });

  test("own frames that come back are no cable, two ports that report each other are", () => {
    const loop = [{ port: 1, to: 1, toPort: "eth2" }];
    expect(linkIds(join([switchReport(1, loop)]))).toEqual([]);
    const both = [...loop, { port: 2, to: 1, toPort: "eth1" }];
    expect(linkIds(join([switchReport(1, both)]))).toHaveLength(2);
  });

  test("a neighbour on a port that no interface has is a device and a fault, not a link", () => {
    const joined = join([switchReport(1, [{ ...there, port: 77 }])]);
    expect(ids(joined)).toEqual([chassisId(1), chassisId(2)]);
    expect(linkIds(joined)).toEqual([]);
    expect(joined.faults).toMatchObject([{ kind: "links" }]);
  });
});
