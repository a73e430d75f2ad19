/**
 * The time line: how much changed when, and a handle on the moment that is shown. Drag or click to see the network
 * then; with two handles the map shows what differs between them. The right end is now.
 */
import type { Timeline } from "../../client/client.ts";
import { button, h, replace, s } from "../dom.ts";
import { formatFullTime, formatShortTime, toTimestamp } from "../format-time.ts";
import { formatCount } from "../names.ts";
import { SPAN_MS, type TimeSpan, type ViewState } from "../state.ts";
import type { Actions, Model, Part } from "../store.ts";
import { createHandle } from "./handle.tsx";

const BUCKETS = 180;
const REFRESH_MS = 5000;
const SHORTEST_MS = 2 * 60_000;
const SPAN_WORDS: Readonly<Record<TimeSpan, string>> = {
  "15min": "15 min",
  "1h": "1 hour",
  "6h": "6 hours",
  "1d": "1 day",
  "7d": "7 days",
  "30d": "30 days",
};

export function createTimeline(actions: Actions): Part {
  let model: Model | undefined;
  let data: Timeline | undefined;
  let shown = { from: Date.now() - SPAN_MS["1h"], to: Date.now() };
  let asked = "";

  const bars = s("svg", {
    class: "bars",
    preserveAspectRatio: "none",
    viewBox: `0 0 ${BUCKETS} 100`,
    "aria-hidden": "true",
  });
  const dawn = h("div", { class: "dawn", title: "Before what is remembered" });
  const ticks = h("div", { class: "ticks", "aria-hidden": "true" });
  const track = h("div", { class: "track" }, bars, dawn, ticks);
  const spans = h("select", {
    class: "span",
    "aria-label": "How much of the past to show",
    onchange: () => setSpan(spans.value),
  });
  replace(
    spans,
    Object.entries(SPAN_WORDS).map(([value, words]) => h("option", { value }, words)),
  );
  const now = button("Now", () => actions.go({ at: undefined, compare: undefined }), {
    class: "text-button now",
  });
  const compare = button("Compare", () => toggleCompare(), { class: "text-button" });
  const element = h("footer", { class: "timeline", "aria-label": "Time line" }, spans, track, compare, now);

  const later = createHandle(track, "Moment shown", {
    span: () => shown,
    oldest: () => data?.oldest.time ?? shown.from,
    move: (ms, done) => moved(done, { at: nearNow(ms) ? undefined : toTimestamp(ms) }),
  });
  const earlier = createHandle(track, "Moment compared with", {
    span: () => shown,
    oldest: () => data?.oldest.time ?? shown.from,
    move: (ms, done) => moved(done, { compare: toTimestamp(ms) }),
  });
  earlier.element.classList.add("earlier");
  track.append(earlier.element, later.element);
  track.addEventListener("pointerdown", (event) => later.grab(event));

  const nearNow = (ms: number) => shown.to - ms < (shown.to - shown.from) * 0.004;
  const moved = (done: boolean, patch: Partial<ViewState>) =>
    done ? actions.go(patch) : actions.adjust(patch);

  function setSpan(value: string): void {
    const span = Object.keys(SPAN_MS).find((name): name is TimeSpan => name === value);
    if (span) actions.go({ span });
  }

  function toggleCompare(): void {
    if (!model) return;
    const { at, compare: from } = model.state;
    if (from !== undefined) actions.go({ compare: undefined });
    else if (at !== undefined) actions.go({ compare: at, at: undefined });
    else {
      const back = Math.max(data?.oldest.time ?? 0, shown.to - (shown.to - shown.from) / 6);
      actions.go({ compare: toTimestamp(back) });
    }
  }

  async function refresh(): Promise<void> {
    if (!model || document.hidden) return;
    const to = Date.now();
    const whole = to - SPAN_MS[model.state.span];
    // What lies before the first memory is not worth the room.
    const from = Math.max(whole, Math.min(data?.oldest.time ?? whole, to - SHORTEST_MS));
    asked = model.state.span;
    try {
      data = await actions.client.timeline(BUCKETS, { from: new Date(from), to: new Date(to) });
      shown = { from, to };
      if (data.oldest.time > from + (to - from) / 2 && to - from > SHORTEST_MS) return void refresh();
    } catch {
      return; // the state of the connection is told elsewhere
    }
    draw();
  }

  function draw(): void {
    if (!data || !model) return;
    const most = Math.max(4, ...data.counts);
    bars.replaceChildren(
      ...data.counts.flatMap((count, i) => {
        if (count === 0) return [];
        // By magnitude: one change is seen beside a thousand.
        const height = 10 + (Math.log1p(count) / Math.log1p(most)) * 88;
        return s("rect", { x: i + 0.12, width: 0.76, y: 100 - height, height });
      }),
    );
    const share = (ms: number) => Math.min(1, Math.max(0, (ms - shown.from) / (shown.to - shown.from)));
    dawn.style.width = `${share(data.oldest.time) * 100}%`;
    replace(
      ticks,
      [0, 0.25, 0.5, 0.75, 1].map((at) => {
        const tick = h(
          "span",
          {},
          at === 1 ? "now" : formatShortTime(shown.from + at * (shown.to - shown.from)),
        );
        tick.style.left = `${at * 100}%`;
        return tick;
      }),
    );
    const total = data.counts.reduce((sum, count) => sum + count, 0);
    track.title = `${formatCount(total, "change")} since ${formatFullTime(shown.from)}`;
    place();
  }

  function place(): void {
    if (!model) return;
    const { at, compare: from } = model.state;
    later.place(
      at === undefined ? shown.to : Date.parse(at),
      at === undefined ? "now" : formatFullTime(Date.parse(at)),
    );
    earlier.element.hidden = from === undefined;
    if (from !== undefined) earlier.place(Date.parse(from), formatFullTime(Date.parse(from)));
    now.disabled = at === undefined && from === undefined;
    compare.setAttribute("aria-pressed", String(from !== undefined));
    compare.textContent = from === undefined && at !== undefined ? "Compare with now" : "Compare";
    element.classList.toggle("in-past", at !== undefined || from !== undefined);
  }

  setInterval(() => void refresh(), REFRESH_MS);

  return {
    element,
    update(next) {
      const before = model;
      model = next;
      spans.value = next.state.span;
      if (next.state.span !== asked || (before?.network === undefined && next.network)) void refresh();
      place();
    },
  };
}
