/** The ids that a device had before stay its aliases: whoever withdraws them, across restarts and in the past. */
import { describe, expect, test } from "bun:test";
import { ClaimedNetwork, openMemoryLog } from "../../../test/support/claims.ts";
import { runToEnd } from "../../lib/steps.ts";
import type { Log } from "../../log/log.ts";
import { CLAIM_LIMITS } from "../../model/claim.ts";
import { historicalStateAt } from "../historical-state.ts";
import { restoreView } from "../restore.ts";

const SOURCES = ["first", "second", "third"];
const IDS: Readonly<Record<string, string>> = { first: "of:1", second: "lldp:1", third: "snmp:1" };
const idOf = (source: string): string => IDS[source] ?? "";
const ALL = Object.values(IDS).sort();

const restart = ({ log }: ClaimedNetwork): ClaimedNetwork =>
  new ClaimedNetwork(SOURCES, log, undefined, undefined, restoreView(log).view);

const report = (net: ClaimedNetwork, source: string, id = idOf(source), serial = "FOX1") =>
  net.set(source, "devices", { id, serial });

/** The third source reports it, then the second, then the first: each time it gets another id. */
async function renamedTwice(log = openMemoryLog()): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork(SOURCES, log);
  for (const source of SOURCES.toReversed()) await report(net, source);
  return net;
}

/** The id and the aliases of the only device. */
function namesOf(net: ClaimedNetwork): readonly string[] {
  const devices = net.all("devices");
  expect(devices).toHaveLength(1);
  return devices.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
}

const shownAt = ({ view, log }: { view: ClaimedNetwork["view"]; log: Log }, revision: number, id: string) =>
  runToEnd(historicalStateAt(view.capture(), log, revision)).state.shownId("devices", id, false);

const ORDERS = SOURCES.flatMap((a) => SOURCES.filter((b) => b !== a).map((b) => [a, b] as const));

describe.each(ORDERS)("%s withdraws a device that was renamed twice, then %s", (...order) => {
  test.each([0, 1, 2])("with a restart after %i withdrawals", async (restartAfter) => {
    let net = await renamedTwice();
    const shown: [revision: number, id: string][] = [[net.view.revision, "of:1"]];
    let claiming = SOURCES;
    for (const [n, source] of order.entries()) {
      if (n === restartAfter) net = restart(net);
      await net.remove(source, "devices", idOf(source));
      claiming = claiming.filter((other) => other !== source);
      const id = idOf(claiming[0] ?? "");
      expect(namesOf(net)).toEqual([id, ...ALL.filter((other) => other !== id)]);
      shown.push([net.view.revision, id]);
    }
    if (restartAfter === 2) net = restart(net);
    // A change of something else keeps them.
    await net.set(claiming[0] ?? "", "devices", { id: idOf(claiming[0] ?? ""), serial: "FOX1", mfr: "m" });
    expect([...namesOf(net)].sort()).toEqual(ALL);
    for (const [revision, id] of shown)
      for (const name of ALL) expect([revision, shownAt(net, revision, name)]).toEqual([revision, id]);
    expect(shownAt(net, 1, "of:1")).toBe("of:1");
    expect(shownAt(net, 2, "snmp:1")).toBe("lldp:1");
    for (const source of claiming) await net.remove(source, "devices", idOf(source));
    expect([net.view.size("devices"), net.view.size("claims")]).toEqual([0, 0]);
    await report(net, "third");
    expect(namesOf(net)).toEqual(["snmp:1"]);
  });
});

test("an id that the device never had goes with the claim", async () => {
  const net = new ClaimedNetwork(SOURCES);
  for (const source of SOURCES) await report(net, source);
  expect([...namesOf(net)].sort()).toEqual(ALL);
  await net.remove("second", "devices", "lldp:1");
  expect(namesOf(net)).toEqual(["of:1", "snmp:1"]);
});

test("an id is no alias any more once another device has it", async () => {
  let net = await renamedTwice();
  await net.remove("second", "devices", "lldp:1");
  net = restart(net);
  await report(net, "second", "LLDP:1", "another");
  expect(net.shown("devices", "of:1")?.aliases).toEqual(["snmp:1"]);
  // What was last shown with this id was another device.
  await net.remove("second", "devices", "LLDP:1");
  expect(namesOf(net)).toEqual(["of:1", "snmp:1"]);
});

test("devices that are separated and joined again have their ids again", async () => {
  const net = await renamedTwice();
  await report(net, "second", "lldp:1", "another");
  expect(net.all("devices")).toMatchObject([{ id: "lldp:1" }, { id: "of:1", aliases: ["snmp:1"] }]);
  await report(net, "second");
  await net.remove("second", "devices", "lldp:1");
  expect([...namesOf(net)].sort()).toEqual(ALL);
});

test("a source that moves from id to id adds no more than the latest ids", async () => {
  const net = new ClaimedNetwork(SOURCES);
  await report(net, "second");
  for (let n = 10; n < 40; n++) {
    await report(net, "first", `of:${n}`);
    await net.remove("first", "devices", `of:${n}`);
  }
  const expected = Array.from(
    { length: CLAIM_LIMITS.aliases },
    (_, i) => `of:${40 - CLAIM_LIMITS.aliases + i}`,
  );
  expect(namesOf(net)).toEqual(["lldp:1", ...expected]);
  expect(namesOf(restart(net))).toEqual(["lldp:1", ...expected]);
});

test("only a device that was renamed has its former ids stored", async () => {
  const net = new ClaimedNetwork(SOURCES);
  for (const source of SOURCES) await report(net, source);
  expect(net.view.get("claims", "devices of:1")).not.toContain("null");
  const renamed = await renamedTwice();
  expect(renamed.view.get("claims", "devices of:1")).toContain('null,["lldp:1","snmp:1"]');
});
