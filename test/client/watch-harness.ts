/** A watch of a service that only pretends, told in few letters. */

import { createClient } from "../../src/client/client.ts";
import type { ConnectionState, WatchEvent } from "../../src/client/types.ts";
import type { WatchOptions } from "../../src/client/watch.ts";
import { type FakeService, said } from "./fake-service.ts";
import { HastyClock } from "./fast-clock.ts";

/** With `random` at 1 the first pauses are 500, 1000, 2000 … */
export function watching(fake: FakeService, options: WatchOptions = {}) {
  const clock = new HastyClock();
  const states: ConnectionState[] = [];
  const client = createClient({ url: fake.url, credentials: "reader:secret", clock, random: () => 1 });
  const onState = (state: ConnectionState) => states.push(state);
  return { clock, states, events: client.watch("devices", {}, { onState, ...options }) };
}

/** `+a@7.` is the last change of revision 7, which added a; `=` is a value of the snapshot. */
export function short(event: WatchEvent<"devices">): string {
  if (event.type === "synced") return `synced@${event.revision}`;
  if (event.type === "reset") return "reset";
  const sign = { snapshot: "=", added: "+", updated: "~", removed: "-" }[event.type];
  const last = event.type !== "snapshot" && event.last ? "." : "";
  return `${sign}${event.value.id}@${event.revision}${last}`;
}

/** Takes events up to and including the one named. */
export async function take(
  events: AsyncGenerator<WatchEvent<"devices">, void, void>,
  end: string,
): Promise<string> {
  const taken: string[] = [];
  while (taken.at(-1) !== end) {
    const { value } = await events.next();
    taken.push(value ? short(value) : "over");
    if (!value) break;
  }
  return taken.join(" ");
}

export const sinces = (fake: FakeService) => fake.asked.map(({ query }) => query.since);
export const START = [said.snapshot("a", 1), said.snapshot("b", 4), said.synced(5)];
