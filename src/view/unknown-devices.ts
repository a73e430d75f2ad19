/**
 * The devices that claims refer to and that no source reports, such as a mistyped end of a link. Entities that refer to
 * them are held back, and only this list shows why. A device that only the plan has is known.
 */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { createPoll } from "../lib/poll.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { claimedId, referencedDevices } from "../model/claim.ts";
import { deviceKey, type Kind } from "../model/ids.ts";
import type { Committer } from "./committer.ts";
import { claimsKey, parseClaimsKey } from "./indexes.ts";
import { MergeRules } from "./merge-rules.ts";
import { type NetworkState, parseStored } from "./view.ts";

export interface UnknownDevice {
  /** The `deviceKey` of the device. */
  readonly key: string;
  /** The id as the first claim has it. */
  readonly id: string;
  /** The number of ports, links and hosts whose claims refer to it. */
  readonly references: number;
  /** The first entity that refers to it. */
  readonly example: { readonly kind: Kind; readonly id: string };
  /** The sources of that entity's claims that refer to it. */
  readonly sources: readonly string[];
}

/** The owner of the computation on the scheduler. */
const LOG_OWNER = "view";

/** Returns nothing until every source has reported once, because a source may still report the device. */
export function* findUnknownDevices(state: NetworkState): Steps<UnknownDevice[]> {
  const { settings, facts } = MergeRules.read(state);
  const { sources } = settings;
  if (sources.length === 0 || !sources.every(({ name }) => facts.get(name)?.hasSynced)) return [];
  const found: UnknownDevice[] = [];
  const pause = new Pause();
  for (const [key, { first, count }] of yield* unknownKeys(state)) {
    const device = describe(state, key, first, count);
    if (device) found.push(device);
    if (pause.due(COST.entity)) yield;
  }
  return found;
}

/** The claims that refer to a device. */
interface References {
  /** The lowest key in the collection `claims`, so that a search by index and one by pages give the same result. */
  first: string;
  count: number;
}

function* unknownKeys(state: NetworkState): Steps<ReadonlyMap<string, References>> {
  const unknown = new Map<string, References>();
  const pause = new Pause();
  const index = state.findIndex("claims", "device");
  if (index) {
    // The index may already include a batch that is being prepared. Its changes are found again with its revision.
    for (const key of index.unsortedKeys()) {
      if (pause.due(COST.record)) yield;
      if (isKnown(state, key)) continue;
      for (const stored of index.get(key)) {
        if (pause.due(COST.key)) yield;
        addReference(unknown, key, stored);
      }
    }
    return unknown;
  }
  for (const page of yield* state.pages("claims"))
    for (const [i, stored] of page.ids().entries()) {
      const text = page.value(i);
      const keys = new Set(
        parseStored("claims", text).flatMap(([, claim]) => referencedDevices(claim).map(deviceKey)),
      );
      for (const key of keys)
        if (unknown.has(key) || !isKnown(state, key)) addReference(unknown, key, stored);
      if (pause.due(COST.record, text.length)) yield;
    }
  return unknown;
}

function addReference(unknown: Map<string, References>, key: string, stored: string): void {
  const known = unknown.get(key);
  if (!known) unknown.set(key, { first: stored, count: 1 });
  else {
    known.count++;
    if (stored < known.first) known.first = stored;
  }
}

/** Whether the device is shown under this id or as an alias, or claimed and not shown, such as one that is only intended. */
const isKnown = (state: NetworkState, key: string): boolean =>
  state.get("devices", state.shownId("devices", key, false)) !== undefined ||
  state.get("claims", claimsKey("devices", key)) !== undefined;

function describe(
  state: NetworkState,
  key: string,
  stored: string,
  references: number,
): UnknownDevice | undefined {
  const { kind } = parseClaimsKey(stored) ?? {};
  const claims = parseStored("claims", state.get("claims", stored) ?? "[]");
  const referring = claims.flatMap(([source, claim]) =>
    referencedDevices(claim)
      .filter((id) => deviceKey(id) === key)
      .map((id) => ({ source, claim, id })),
  );
  const [first] = referring;
  if (!kind || !first) return undefined;
  const sources = [...new Set(referring.map(({ source }) => source))];
  return { key, id: first.id, references, example: { kind, id: claimedId(first.claim) }, sources };
}

const LOG_INTERVAL_MS = 5000;
const MAX_EXAMPLES = 5;

/** Logs a line whenever there is an unknown device that was not unknown at the previous check, until `signal` aborts. */
export async function logUnknownDevices(
  { view, scheduler }: Pick<Committer, "view" | "scheduler">,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let logged = new Set<string>();
  let checked = "";
  await createPoll({ intervalMs: LOG_INTERVAL_MS, clock, signal }).run(async () => {
    const { claims, devices, settings } = view.versions;
    const versions = `${claims} ${devices} ${settings}`;
    if (versions === checked) return;
    checked = versions;
    const found = await scheduler.run(LOG_OWNER, findUnknownDevices(view.capture()));
    const added = found.filter(({ key }) => !logged.has(key));
    logged = new Set(found.map(({ key }) => key));
    if (added.length === 0) return;
    const examples = added
      .slice(0, MAX_EXAMPLES)
      .map(({ id, example }) => `${id} (${example.kind} ${example.id})`);
    logger.warn("no source reports devices that others refer to; what refers to them is not shown", {
      devices: found.length,
      records: found.reduce((sum, { references }) => sum + references, 0),
      examples: examples.join(", "),
    });
  });
}
