/**
 * Loads the values of the metric on links while one is chosen and the page is visible. When they cannot be read there are
 * no values, and the reason is kept for display.
 */
import { computed, effect } from "@preact/signals";
import type { MapMetric, MetricValues } from "../../model/map-settings.ts";
import type { OverlayResult } from "./overlay.ts";
import type { Store } from "./page-store.ts";

/** After a failure of the connection to the service itself. */
const RETRY_MS = 5000;

export function syncOverlay({ state, settings, overlayResult }: Store): void {
  const chosen = computed(() => state.value.metric);
  // The same text for the same metric, although the settings are loaded again.
  const about = computed(() =>
    JSON.stringify(settings.value?.metrics.find(({ name }) => name === chosen.value)),
  );
  const isLoaded = computed(() => settings.value !== undefined);
  effect(() => {
    overlayResult.value = undefined;
    const name = chosen.value;
    if (name === undefined || !isLoaded.value) return;
    if (about.value === undefined) {
      overlayResult.value = { ok: false, reason: `${name} is no metric of this service.` };
      return;
    }
    return follow(JSON.parse(about.value), (result) => {
      overlayResult.value = result;
    });
  });
}

/** Loads the values once in an interval. Returns the function that ends it. */
function follow(metric: MapMetric, publish: (result: OverlayResult) => void): () => void {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = async (): Promise<void> => {
    clearTimeout(timer);
    if (document.hidden) return;
    const result = await load(metric, end.signal);
    if (end.signal.aborted) return;
    publish(result.result);
    timer = setTimeout(() => void next(), result.retryMs);
  };
  const onVisible = () => {
    if (!document.hidden) void next();
  };
  document.addEventListener("visibilitychange", onVisible, { signal: end.signal });
  void next();
  return () => {
    clearTimeout(timer);
    end.abort();
  };
}

async function load(
  metric: MapMetric,
  signal: AbortSignal,
): Promise<{ readonly result: OverlayResult; readonly retryMs: number }> {
  const { name, unit, max, intervalSeconds } = metric;
  const retryMs = intervalSeconds * 1000;
  try {
    const response = await fetch(`/map/metrics/${encodeURIComponent(name)}`, { signal });
    const body = await response.json();
    if (!response.ok)
      return { result: { ok: false, reason: String(body.detail ?? response.status) }, retryMs };
    const { values, ...facts }: MetricValues = body;
    const overlay = { name, unit, max, values: new Map(Object.entries(values)) };
    return { result: { ok: true, overlay, facts }, retryMs };
  } catch {
    const reason = `${name}: the service does not respond.`;
    return { result: { ok: false, reason }, retryMs: Math.min(retryMs, RETRY_MS) };
  }
}
