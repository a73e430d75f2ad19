import { expect, test } from "bun:test";
import { openMemoryLog } from "../../test/support/claims.ts";
import { ManualClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import type { Claims } from "../model/claim.ts";
import { ClaimIngest } from "./claim-ingest.ts";
import { Committer } from "./committer.ts";
import { View } from "./view.ts";

const A = "of:000000000000000a";
const CLAIMS: Claims = {
  devices: [{ id: A, type: "SWITCH", available: true, role: "MASTER", mfr: "Nicira" }],
  ports: [{ element: A, port: "1", isEnabled: true, type: "copper", portSpeed: 1000 }],
  // Held back for want of a device, and remembered all the same.
  links: [{ src: { port: "1", device: A }, dst: { port: "1", device: "of:b" } }],
  hosts: [{ mac: "00:00:00:00:00:01", vlan: "None", locations: [{ elementId: A, port: "2" }] }],
};

test("a source is told what it claimed, and nothing that others did, also after a restart", async () => {
  const log = openMemoryLog();
  const clock = new ManualClock();
  const ledger = new Committer(new View(), log, clock, ["mine", "other"]);
  const mine = new ClaimIngest(ledger, "mine", silentLogger);
  await mine.replace(CLAIMS);
  await new ClaimIngest(ledger, "other", silentLogger).replace({
    devices: [{ id: A, hw: "EX" }, { id: "of:c" }],
  });
  expect(await mine.lastClaims()).toEqual(CLAIMS);

  const again = new View();
  for (const batch of log.read(0)) again.apply(batch);
  const restarted = new ClaimIngest(
    new Committer(again, log, clock, ["mine", "other"]),
    "mine",
    silentLogger,
  );
  expect(await restarted.lastClaims()).toEqual(CLAIMS);
});
