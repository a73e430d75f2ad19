/** Counts of open and completed forwarded requests: for the limits, for `/metrics`, and to log a failure once. */
import { Quota, type QuotaLimits } from "../../lib/quota.ts";

export interface ForwardMetrics {
  /** Number of requests that are being forwarded. */
  readonly open: number;
  /** Number of responses by source and status. 502 means a controller that did not respond or refused the credentials. */
  responses(): readonly { readonly source: string; readonly status: number; readonly count: number }[];
  bytes(): ReadonlyMap<string, number>;
}

export class ForwardCounters implements ForwardMetrics {
  /** The requests that are being forwarded, by user. */
  readonly requests: Quota;
  readonly #responses = new Map<string, Map<number, number>>();
  readonly #bytes = new Map<string, number>();
  readonly #failing = new Set<string>();

  constructor(limits: QuotaLimits) {
    this.requests = new Quota(limits);
  }

  get open(): number {
    return this.requests.total;
  }

  count(source: string, status: number): void {
    let statuses = this.#responses.get(source);
    if (!statuses) {
      statuses = new Map();
      this.#responses.set(source, statuses);
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  countBytes(source: string, bytes: number): void {
    this.#bytes.set(source, (this.#bytes.get(source) ?? 0) + bytes);
  }

  /** Marks a source as failing. Returns whether the failure is the first since the last success. */
  beginFailure(source: string): boolean {
    const isNew = !this.#failing.has(source);
    this.#failing.add(source);
    return isNew;
  }

  /** Marks a source as working. Returns whether it was failing before. */
  endFailure(source: string): boolean {
    return this.#failing.delete(source);
  }

  responses() {
    return [...this.#responses].flatMap(([source, statuses]) =>
      Array.from(statuses, ([status, count]) => ({ source, status, count })),
    );
  }

  bytes(): ReadonlyMap<string, number> {
    return this.#bytes;
  }
}
