/**
 * A history with known times for the tests of the page: written into a log with a manual clock, then served by the real
 * service, whose source reports the last state. So incidents are minutes apart, and no test waits for them.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/lib/logger.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { View } from "../../src/view/view.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { type Service, startService } from "../support/service.ts";
import { deviceId } from "./network-file.ts";

const MINUTE_MS = 60_000;
/** How long before now the history starts. */
const AGE_MS = 40 * MINUTE_MS;

interface HistoryState {
  readonly leaves: readonly number[];
  readonly down?: number;
  readonly inactive?: number;
  readonly mfr?: string;
  /** The leaf of the host that moves. */
  readonly hostAt?: number;
}

/** What is true from so many milliseconds after the start on. */
const STATES = {
  start: { ms: 0, leaves: [1, 2, 3] },
  deviceDown: { ms: 5 * MINUTE_MS, leaves: [1, 2, 3], down: 1 },
  linkDown: { ms: 5 * MINUTE_MS + 4000, leaves: [1, 2, 3], down: 1, inactive: 1 },
  repaired: { ms: 8 * MINUTE_MS, leaves: [1, 2, 3] },
  changed: { ms: 15 * MINUTE_MS, leaves: [1, 2, 3], mfr: "Arista", hostAt: 1 },
  removed: { ms: 20 * MINUTE_MS, leaves: [1, 3], mfr: "Arista", hostAt: 1 },
  added: { ms: 30 * MINUTE_MS, leaves: [1, 3, 4], mfr: "Arista", hostAt: 1 },
} as const satisfies Record<string, HistoryState & { readonly ms: number }>;
export type StateName = keyof typeof STATES;

export interface KnownHistory {
  readonly service: Service;
  readonly revisions: Readonly<Record<StateName, number>>;
  /** Epoch milliseconds. */
  readonly times: Readonly<Record<StateName, number>>;
  remove(): void;
}

const SPINE = deviceId(1);
export const leafId = (n: number): string => deviceId(10 + n);

function claimsOf({ leaves, down, inactive, mfr = "Edgecore", hostAt = 3 }: HistoryState) {
  const device = (id: string, name: string, more = {}) => ({
    id,
    type: "SWITCH" as const,
    available: true,
    annotations: { name },
    ...more,
  });
  return {
    devices: [
      device(SPINE, "spine"),
      ...leaves.map((n) =>
        device(leafId(n), `leaf${n}`, { available: n !== down, mfr: n === 3 ? mfr : "Edgecore" }),
      ),
    ],
    ports: leaves.flatMap((n) =>
      ["1", "3", "4"].map((port) => ({ element: leafId(n), port, isEnabled: true, portSpeed: 10_000 })),
    ),
    links: leaves.flatMap((n) => {
      const [up, low] = [
        { device: SPINE, port: String(n) },
        { device: leafId(n), port: "1" },
      ];
      const state = n === inactive ? ("INACTIVE" as const) : ("ACTIVE" as const);
      return [
        { src: up, dst: low, state, verified: true },
        { src: low, dst: up, state, verified: true },
      ];
    }),
    hosts: [
      ...leaves.map((n) => ({
        mac: `02:00:00:00:00:0${n}`,
        locations: [{ elementId: leafId(n), port: "3" }],
        annotations: { name: `pc${n}` },
      })),
      {
        mac: "02:00:00:00:00:99",
        locations: [{ elementId: leafId(hostAt), port: "4" }],
        annotations: { name: "laptop" },
      },
    ],
  };
}

export async function startKnownHistory(): Promise<KnownHistory> {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-history-"));
  const startMs = Math.floor((Date.now() - AGE_MS) / 1000) * 1000;
  const clock = new ManualClock(startMs);
  const log = openEmbeddedLog(join(folder, "log.sqlite"));
  const view = new View();
  const committer = new Committer(view, log, clock, observedSources(["first"]));
  const ingest = new ClaimIngest(committer, "first", silentLogger);
  const revisions = new Map<string, number>();
  const times = new Map<string, number>();
  for (const [name, state] of Object.entries(STATES)) {
    await clock.advance(startMs + state.ms - clock.now());
    await ingest.replace(claimsOf(state));
    revisions.set(name, view.revision);
    times.set(name, view.time);
  }
  await log.close();
  const network = join(folder, "network.json");
  const config = join(folder, "gazetteer.yaml");
  writeFileSync(network, JSON.stringify(claimsOf(STATES.added)));
  writeFileSync(config, `sources:\n  - type: file\n    name: first\n    path: ${network}\n`);
  const service = await startService({ args: ["--data", folder, "--config", config] });
  const of = (values: ReadonlyMap<string, number>) => {
    const get = (name: StateName): number => values.get(name) ?? 0;
    return {
      start: get("start"),
      deviceDown: get("deviceDown"),
      linkDown: get("linkDown"),
      repaired: get("repaired"),
      changed: get("changed"),
      removed: get("removed"),
      added: get("added"),
    };
  };
  return {
    service,
    revisions: of(revisions),
    times: of(times),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
