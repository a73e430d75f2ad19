/** Whether what is on the screen is true now: live, old on purpose, or old by mishap, and then whose fault it is. */
import type { SourceStatus } from "../../client/types.ts";
import { h, replace } from "../dom.ts";
import { formatDuration, formatFullTime, formatShortTime } from "../format-time.ts";
import { formatCount } from "../names.ts";
import type { Model, Part } from "../store.ts";
import { createPopover } from "./popover.tsx";

type Level = "live" | "past" | "stale" | "lost" | "waiting";

interface Verdict {
  readonly level: Level;
  readonly words: string;
}

export const isStale = (source: SourceStatus): boolean => source.status !== "synced";

function verdict({ state, connection, health, network }: Model): Verdict {
  if (connection.state === "reconnecting" || connection.state === "closed") {
    return { level: "lost", words: network ? "Connection lost" : "No connection" };
  }
  const stale = health?.sources.filter(isStale) ?? [];
  if (state.compare !== undefined) return { level: "past", words: "Comparing" };
  if (state.at !== undefined) return { level: "past", words: "The past" };
  const [first] = stale;
  if (first)
    return {
      level: "stale",
      words: stale.length === 1 ? `${first.name} stale` : `${stale.length} sources stale`,
    };
  if (!network || connection.state === "connecting") return { level: "waiting", words: "Connecting" };
  return { level: "live", words: "Live" };
}

export function createStatus(): Part {
  let model: Model | undefined;
  const dot = h("span", { class: "dot" });
  const words = h("span", { class: "status-words", role: "status" });
  const popover = createPopover(
    "State of the connection and of the sources",
    h("span", { class: "status-face" }, dot, words),
    () => draw(),
    true,
  );
  popover.element.classList.add("status");

  function draw(): void {
    if (!model || !popover.isOpen()) return;
    const { connection, health } = model;
    const trouble =
      connection.state === "reconnecting"
        ? `Trying again${connection.afterMs > 0 ? ` in ${formatDuration(connection.afterMs)}` : ""}: ${connection.reason}`
        : undefined;
    replace(
      popover.body,
      h("p", {}, trouble ?? `Stream ${connection.state}.`),
      h("h3", {}, health ? formatCount(health.sources.length, "source") : "Loading sources…"),
      h("ul", { class: "sources" }, (health?.sources ?? []).map(sourceItem)),
    );
  }

  return {
    element: popover.element,
    update(next) {
      model = next;
      const { level, words: said } = verdict(next);
      popover.element.dataset.level = level;
      if (words.textContent !== said) words.textContent = said;
      draw();
    },
  };
}

function sourceItem(source: SourceStatus): HTMLLIElement {
  const stale = isStale(source);
  const since = `${source.status} since ${formatShortTime(source.since)} (${formatDuration(Date.now() - source.since)})`;
  return h(
    "li",
    { class: stale ? "bad" : "" },
    h("strong", {}, source.name),
    ` ${source.kind} · ${since}`,
    stale &&
      source.lastSyncedAt !== undefined &&
      h("div", {}, `Last complete ${formatFullTime(source.lastSyncedAt)}`),
    source.error !== undefined && h("div", { class: "error-text" }, source.error),
  );
}
