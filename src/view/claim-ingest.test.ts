import { expect, test } from "bun:test";
import { openMemoryLog } from "../../test/support/claims.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { withoutPauses } from "../lib/steps.ts";
import type { Claims } from "../model/claim.ts";
import { KINDS } from "../model/ids.ts";
import { observedSources } from "../model/merge-settings.ts";
import { ClaimIngest } from "./claim-ingest.ts";
import { Committer } from "./committer.ts";
import { View } from "./view.ts";

const A = "of:000000000000000a";
const CLAIMS: Claims = {
  devices: [{ id: A, type: "SWITCH", available: true, role: "MASTER", mfr: "Nicira" }],
  ports: [{ element: A, port: "1", isEnabled: true, type: "copper", portSpeed: 1000 }],
  // Held back because a device is missing; the claim is stored.
  links: [{ src: { port: "1", device: A }, dst: { port: "1", device: "of:b" } }],
  hosts: [{ mac: "00:00:00:00:00:01", vlan: "None", locations: [{ elementId: A, port: "2" }] }],
};

test("lastClaims returns the claims of this source and of no other, also after a restart", async () => {
  const log = openMemoryLog();
  const clock = new ManualClock();
  const committer = new Committer(new View(), log, clock, observedSources(["first", "second"]));
  const ingest = new ClaimIngest(committer, "first", silentLogger);
  await ingest.replace(CLAIMS);
  await new ClaimIngest(committer, "second", silentLogger).replace({
    devices: [{ id: A, hw: "EX" }, { id: "of:c" }],
  });
  expect(await ingest.lastClaims()).toEqual(CLAIMS);

  const restored = new View();
  for (const batch of withoutPauses(log.read(0))) restored.apply(batch);
  const restarted = new ClaimIngest(
    new Committer(restored, log, clock, observedSources(["first", "second"])),
    "first",
    silentLogger,
  );
  expect(await restarted.lastClaims()).toEqual(CLAIMS);
});

test("claims that are canonical give the same view as claims that are validated", async () => {
  const clock = new ManualClock();
  const committed = async (isCanonical: boolean) => {
    const committer = new Committer(new View(), openMemoryLog(), clock, observedSources(["first"]));
    const ingest = new ClaimIngest(committer, "first", silentLogger);
    await ingest.replace({ ...CLAIMS, isCanonical });
    await ingest.apply([{ op: "set", kind: "devices", claim: { id: "of:b" }, isCanonical }]);
    const { view } = committer;
    return KINDS.map((kind) => [...view.range(kind, "", "\uffff")]);
  };
  const [devices, ports, links, hosts] = await committed(true);
  expect([devices, ports, links, hosts]).toEqual(await committed(false));
  expect([devices, ports, links, hosts].map((found) => found?.length)).toEqual([2, 1, 1, 1]);
});
