/**
 * What the configuration of the service gives the map: links out, saved views and metrics. Loaded when the page connects,
 * and again now and then, because a reload of the service may change it.
 */
import { computed, effect } from "@preact/signals";
import type { Store } from "./page-store.ts";

const RELOAD_MS = 60_000;

export function syncSettings({ settings, connection }: Store): void {
  const load = async (): Promise<void> => {
    try {
      const response = await fetch("/map/settings.json");
      if (response.ok) settings.value = await response.json();
    } catch {
      // The state of the stream shows that the connection is lost.
    }
  };
  const isConnected = computed(() => connection.value.state === "connected");
  effect(() => {
    if (isConnected.value) void load();
  });
  void load();
  setInterval(() => void load(), RELOAD_MS);
}
