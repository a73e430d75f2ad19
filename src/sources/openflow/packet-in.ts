/**
 * What to do with a frame that a switch sends up. Probes and announcements have separate budgets for each port, so
 * that a host which floods the one does not cost us the other, nor anyone else anything. Announcements from a port
 * that nobody has judged yet wait, few of them, until it turns out to be an edge: the only words of a quiet host are
 * often those it says when its link comes up.
 */

import { type Announcement, readAnnouncement } from "./codec/announcement.ts";
import { ETHER, readFrame, type Tags } from "./codec/ethernet.ts";
import { type Lldp, readLldp } from "./codec/lldp.ts";
import { WireError } from "./codec/wire.ts";
import type { Counter } from "./counters.ts";
import { type End, endKey } from "./link-table.ts";
import type { Settings } from "./options.ts";
import type { Probes, ProbeVerdict } from "./probes.ts";
import { Budget } from "./token-bucket.ts";

const MAX_WAITING = 64;
const ETHERNET_BYTES = 14;
/** Far above what any wire brings: one probe of each form a round, a few while a port settles. */
const PROBES_A_SECOND = 50;

export interface IntakeOwner {
  /** What a port is known to be. */
  judgement(end: End): "edge" | "link" | "waiting" | "unknown";
  probed(from: End, at: End, direct: boolean): void;
  foreign(lldp: Lldp, at: End): void;
  announced(at: End, tags: Tags, said: Announcement): void;
  count(what: Counter): void;
}

interface Waiting {
  readonly tags: Tags;
  readonly said: Announcement;
}

export class Intake {
  readonly #owner: IntakeOwner;
  readonly #probes: Probes;
  readonly #probeBudget = new Budget(PROBES_A_SECOND);
  readonly #hostBudget: Budget;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(owner: IntakeOwner, probes: Probes, settings: Settings) {
    this.#owner = owner;
    this.#probes = probes;
    this.#hostBudget = new Budget(settings.maxPacketInRate);
  }

  frame(end: End, bytes: Uint8Array, now: number): void {
    const type = ((bytes[12] ?? 0) << 8) | (bytes[13] ?? 0);
    const isProbe = type === ETHER.lldp || type === ETHER.broadcastProbe;
    const budget = isProbe ? this.#probeBudget : this.#hostBudget;
    if (!budget.take(endKey(end), now)) {
      this.#owner.count("frames_limited_total");
      return;
    }
    try {
      if (isProbe) this.#probe(end, type, bytes.subarray(ETHERNET_BYTES), now);
      else this.#announcement(end, bytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#owner.count("frames_malformed_total");
    }
  }

  /** The port is an edge: what waited is heard now. */
  settled(end: End): void {
    const key = endKey(end);
    const waited = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const { tags, said } of waited) this.#owner.announced(end, tags, said);
  }

  /** The port is no edge, or no longer up. */
  discard(end: End): void {
    this.#waiting.delete(endKey(end));
  }

  sweep(now: number): void {
    this.#probeBudget.sweep(now);
    this.#hostBudget.sweep(now);
  }

  #probe(at: End, type: number, payload: Uint8Array, now: number): void {
    const verdict: ProbeVerdict | undefined = this.#probes.judge(type, payload, at, now);
    if (!verdict) {
      this.#owner.foreign(readLldp(payload), at);
    } else if (verdict.ok) {
      this.#owner.count("probes_accepted_total");
      this.#owner.probed(verdict.from, at, verdict.direct);
    } else this.#owner.count(`probes_${verdict.fault}_total`);
  }

  #announcement(at: End, bytes: Uint8Array): void {
    const judgement = this.#owner.judgement(at);
    if (judgement === "link" || judgement === "unknown") return;
    const { vlan, innerVlan, tpid, ...frame } = readFrame(bytes);
    const said = readAnnouncement(frame);
    if (!said) return;
    const tags = {
      ...(vlan !== undefined && { vlan }),
      ...(innerVlan !== undefined && { innerVlan }),
      ...(tpid !== undefined && { tpid }),
    };
    if (judgement === "edge") {
      this.#owner.announced(at, tags, said);
      return;
    }
    const waiting = this.#waiting.get(endKey(at)) ?? [];
    if (waiting.length < MAX_WAITING) waiting.push({ tags, said });
    this.#waiting.set(endKey(at), waiting);
  }
}
