/** The buttons that play the past and jump between incidents, and their keys while the focus is in the time line. */
import { computed, effect, type ReadonlySignal, untracked, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Alarm, Incident } from "../../client/client.ts";
import { parseMoment } from "../data/load-network.ts";
import { abortPrevious, reasonOf } from "../data/pacing.ts";
import { type PageStore, useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import { SPEEDS } from "../data/view-state.ts";
import { Button, Select } from "../elements/controls.tsx";
import { formatFullTime, formatShortTime, toExactTimestamp } from "../elements/format-time.ts";
import { rangeOf, type TimelineData } from "./track.tsx";

type PlayActions = ReturnType<typeof usePlayActions>;

export function usePlayActions(data: ReadonlySignal<TimelineData | undefined>) {
  const store = useStore();
  const { state, go } = store;
  /** The text about the running search for an incident; undefined when no search runs. */
  const searching = useSignal<string | undefined>(undefined);
  const nextSignal = useMemo(abortPrevious, []);
  useEffect(() => () => void nextSignal(), []);
  return {
    searching,
    togglePlay() {
      const { play, at } = state.peek();
      if (play) return go({ play: false });
      const { fromMs, oldestMs } = rangeOf(data.peek());
      // From the present, playback starts at the beginning of the time line, because there is nothing to play after now.
      go({ play: true, at: at ?? toExactTimestamp(Math.max(fromMs, oldestMs)) });
    },
    /** Changes to the next higher or lower speed. */
    changeSpeed(steps: 1 | -1): void {
      const next = SPEEDS[SPEEDS.indexOf(state.peek().speed) + steps];
      if (next !== undefined) go({ speed: next });
    },
    jump(direction: Direction): void {
      const signal = nextSignal();
      searching.value = `Searching for the ${direction} incident…`;
      const onSearched = (ms: number) => {
        searching.value = `No incident ${direction === "previous" ? "since" : "until"} ${formatShortTime(ms)}, searching on…`;
      };
      void jumpToIncident(store, direction, onSearched, signal).finally(() => {
        if (!signal.aborted) searching.value = undefined;
      });
    },
  };
}

/**
 * Searches for the next or previous incident and shows its moment. The service searches a part of the history per request;
 * `onSearched` is called with the time up to which no incident was found. An open comparison then compares the moments
 * before and after the incident.
 */
async function jumpToIncident(
  { client, state, go, notify }: PageStore,
  direction: Direction,
  onSearched: (ms: number) => void,
  signal: AbortSignal,
): Promise<void> {
  go({ play: false });
  const { at } = state.peek();
  let start = at === undefined ? undefined : parseMoment(at);
  try {
    for (;;) {
      const { incident, searched, complete } = await client.incident(direction, start, { signal });
      if (signal.aborted) return;
      if (incident) {
        const { from, to } = incident;
        const isCompared = state.peek().compare !== undefined;
        go({ at: String(to.revision), ...(isCompared && { compare: String(from.revision - 1) }) });
        return notify(describeIncident(incident));
      }
      if (complete) return notify(endText(direction, searched.time));
      start = searched.revision;
      onSearched(searched.time);
    }
  } catch (error) {
    if (!signal.aborted) notify(`Incidents cannot be searched: ${reasonOf(error)}`);
  }
}

export function PlayControls({ actions }: { readonly actions: PlayActions }) {
  const { state, go } = useStore();
  const { play, speed } = state.value;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form, and this is a toolbar
    <div class="play-controls" role="group" aria-label="Play the past">
      <Button label="Previous incident" icon="previous" onClick={() => actions.jump("previous")} />
      <Button
        label={play ? "Pause" : "Play"}
        icon={play ? "pause" : "play"}
        class={play ? "icon-button playing" : "icon-button"}
        onClick={actions.togglePlay}
      />
      <Button label="Next incident" icon="next" onClick={() => actions.jump("next")} />
      <Select
        class="span"
        aria-label="Speed"
        title="Seconds of the past in one second"
        value={speed}
        options={SPEEDS.map((one) => [one, `${one}×`])}
        onChoose={(next) => go({ speed: next })}
      />
      <span class="searching" role="status">
        {actions.searching.value}
      </span>
    </div>
  );
}

/** Handles the keys of playback. They do nothing in a `select` element, where keys choose an option. */
export function handlePlayKey(event: KeyboardEvent, actions: PlayActions): void {
  const { target, key } = event;
  const isSlider = target instanceof Element && target.role === "slider";
  if (target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = {
    p: actions.togglePlay,
    "[": () => actions.jump("previous"),
    "]": () => actions.jump("next"),
    "+": () => actions.changeSpeed(1),
    "-": () => actions.changeSpeed(-1),
    // The space bar toggles playback only on the slider, because on a button it presses the button.
    ...(isSlider && { " ": actions.togglePlay }),
  }[key];
  if (!action) return;
  event.preventDefault();
  action();
}

type Direction = "previous" | "next";

function endText(direction: Direction, ms: number): string {
  if (direction === "next") return "There is no later incident until now.";
  // Revision 0, the empty network, has no time.
  return ms > 0
    ? `There is no earlier incident: the history starts at ${formatFullTime(ms)}.`
    : "There is no earlier incident since the history started.";
}

/** The incident as text. Both directions of a cable count as one. */
function describeIncident({ alarms, alarmCount, from }: Incident): string {
  const count = (resource: Alarm["resource"], event: Alarm["event"]) =>
    new Set(
      alarms
        .filter((alarm) => alarm.resource === resource && alarm.event === event)
        .map(({ id, cable }) => cable ?? id),
    ).size;
  const parts = [
    [count("devices", "unavailable"), "device", "down"],
    [count("devices", "removed"), "device", "removed"],
    [count("links", "inactive"), "cable", "down"],
    [count("links", "removed"), "cable", "lost"],
  ] as const;
  const texts = parts.flatMap(([n, noun, state]) => (n > 0 ? [`${formatCount(n, noun)} ${state}`] : []));
  const more =
    alarmCount > alarms.length ? [`${formatCount(alarmCount - alarms.length, "other alarm")}`] : [];
  return `Incident of ${formatFullTime(from.time)}: ${[...texts, ...more].join(", ")}`;
}

const STEP_INTERVAL_MS = 500;
/** Maximum time that one step advances, so that playback continues where it was after the browser paused a hidden tab. */
const MAX_ELAPSED_MS = 2 * STEP_INTERVAL_MS;

/**
 * Plays the past: advances the moment of the address while `play` is set, until it reaches now. The next step waits until
 * the last one is shown, together with its path if there is one, so that a slow service slows playback down instead of
 * making it skip moments.
 */
export function syncPlay(store: PageStore): void {
  const playing = computed(() => store.state.value.play);
  effect(() => {
    if (!playing.value) return;
    return untracked(() => startPlaying(store));
  });
}

/** Starts playback. Returns the function that stops it. */
function startPlaying(store: PageStore): () => void {
  const { state, adjust, loading, pathLoading, problem, live } = store;
  /** The moment that the last step set. The user may set another one meanwhile. */
  let last: { readonly at: string; readonly ms: number } | undefined;
  let lastStepMs = performance.now();
  const step = () => {
    const elapsedMs = Math.min(performance.now() - lastStepMs, MAX_ELAPSED_MS);
    lastStepMs = performance.now();
    const { at, speed } = state.peek();
    if (at === undefined || problem.peek() !== undefined) return adjust({ play: false });
    if (loading.peek() || pathLoading.peek() || live.peek() === undefined) return;
    const fromMs = last?.at === at ? last.ms : store.timeOf(at);
    if (fromMs === undefined) return;
    const ms = fromMs + elapsedMs * speed;
    if (ms >= Date.now()) {
      adjust({ at: undefined, play: false });
      return store.notify("The play has reached now. The map is live.");
    }
    last = { at: toExactTimestamp(ms), ms };
    adjust({ at: last.at });
  };
  const timer = setInterval(step, STEP_INTERVAL_MS);
  return () => clearInterval(timer);
}
