/** Runs a watch against a fake service and formats its events as short texts. */
import { createClient } from "../../src/client/client.ts";
import type { ConnectionState, WatchEvent } from "../../src/client/types.ts";
import type { WatchOptions } from "../../src/client/watch.ts";
import { type FakeService, records } from "./fake-service.ts";
import { FastClock } from "./fast-clock.ts";

/** A snapshot with two devices, complete at revision 5. */
export const INITIAL_RECORDS = [records.snapshot("a", 1), records.snapshot("b", 4), records.synced(5)];

/** With `random` at 1 the backoffs are 500, 1000, 2000 … */
export function startWatch(service: FakeService, options: WatchOptions = {}) {
  const clock = new FastClock();
  const states: ConnectionState[] = [];
  const client = createClient({ url: service.url, credentials: "reader:secret", clock, random: () => 1 });
  const onState = (state: ConnectionState) => states.push(state);
  return { clock, states, events: client.watch("devices", {}, { onState, ...options }) };
}

/** `+a@7.` is the last change of revision 7 and adds a; `=` is an entity of the snapshot. */
export function formatEvent(event: WatchEvent<"devices">): string {
  if (event.type === "synced") return `synced@${event.revision}`;
  if (event.type === "reset") return "reset";
  const sign = { snapshot: "=", added: "+", updated: "~", removed: "-" }[event.type];
  const last = event.type !== "snapshot" && event.last ? "." : "";
  return `${sign}${event.value.id}@${event.revision}${last}`;
}

/** The events up to and including `end`. */
export async function readUntil(
  events: AsyncGenerator<WatchEvent<"devices">, void, void>,
  end: string,
): Promise<string> {
  const read: string[] = [];
  while (read.at(-1) !== end) {
    const { value } = await events.next();
    read.push(value ? formatEvent(value) : "over");
    if (!value) break;
  }
  return read.join(" ");
}

export const sinceParameters = (service: FakeService) => service.requests.map(({ query }) => query.since);
