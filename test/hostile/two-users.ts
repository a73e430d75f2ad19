/** A service with two users: `ann`, who attacks, and `bob`, who must not notice; and what `/metrics` says of them. */
import type { MemoryLimits } from "../../src/lib/memory-budget.ts";
import type { Scheduler } from "../../src/lib/scheduler.ts";
import { type Harness, openHarness } from "../api/harness.ts";
import { withUsersFile } from "../api/users-file.ts";

export const ANN = `Basic ${btoa("ann:one")}`;
export const BOB = `Basic ${btoa("bob:two")}`;

export interface TwoUserOptions {
  readonly limits?: Partial<MemoryLimits> & { readonly streamsPerUser?: number };
  readonly ringBytes?: number;
  readonly scheduler?: Scheduler;
}

export const withTwoUsers = (options: TwoUserOptions, body: (h: Harness) => Promise<void>): Promise<void> =>
  withUsersFile(async (users) => {
    await using h = await openHarness({ ...options, users });
    await body(h);
  });

export const as = (authorization: string, more: Record<string, string> = {}): RequestInit => ({
  headers: { authorization, ...more },
});

/** A sample of `/metrics`, such as `gazetteer_user_bytes_held{user="ann"}`; 0 when there is none. */
export async function metric(h: Harness, sample: string): Promise<number> {
  const text = await (await h.fetch("/metrics", as(BOB))).text();
  const line = text.split("\n").find((one) => one.startsWith(`${sample} `));
  return Number(line?.slice(sample.length + 1) ?? 0);
}
