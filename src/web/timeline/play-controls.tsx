/** The buttons that play the past and jump between incidents, and their keys while the focus is in the time line. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Direction, findIncident } from "../data/incident-search.ts";
import { type Store, useStore } from "../data/page-store.ts";
import { SPEEDS, type Speed } from "../data/view-state.ts";
import { Button } from "../elements/button.tsx";
import { formatShortTime, toExactTimestamp } from "../elements/format-time.ts";
import { rangeOf, type TimelineData } from "./use-timeline.ts";

export interface PlayActions {
  togglePlay(): void;
  /** To the next higher or lower speed. */
  changeSpeed(steps: 1 | -1): void;
  jump(direction: Direction): void;
  /** What is searched; undefined when nothing is. */
  readonly searching: ReadonlySignal<string | undefined>;
}

export function usePlayActions(data: ReadonlySignal<TimelineData | undefined>): PlayActions {
  const store = useStore();
  const { state, go } = store;
  const searching = useSignal<string | undefined>(undefined);
  const request = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => request.current?.abort(), []);
  return {
    searching,
    togglePlay() {
      const { play, at } = state.peek();
      if (play) return go({ play: false });
      const { fromMs, oldestMs } = rangeOf(data.peek());
      // From now there is nothing to play: it starts with what the time line shows.
      go({ play: true, at: at ?? toExactTimestamp(Math.max(fromMs, oldestMs)) });
    },
    changeSpeed(steps) {
      const next = SPEEDS[SPEEDS.indexOf(state.peek().speed) + steps];
      if (next !== undefined) go({ speed: next });
    },
    jump(direction) {
      request.current?.abort();
      request.current = new AbortController();
      const { signal } = request.current;
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

/** In a comparison it then is between before and after the incident. */
async function jumpToIncident(
  store: Store,
  direction: Direction,
  onSearched: (ms: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { client, state, go, notify } = store;
  go({ play: false });
  try {
    const { incident, text } = await findIncident(client, direction, state.peek().at, onSearched, signal);
    if (signal.aborted) return;
    if (incident) {
      const { from, to } = incident;
      const isCompared = state.peek().compare !== undefined;
      go({ at: String(to.revision), ...(isCompared && { compare: String(from.revision - 1) }) });
    }
    notify(text);
  } catch (error) {
    if (!signal.aborted) notify(`Incidents cannot be searched: ${String(error)}`);
  }
}

export function PlayControls({ actions }: { readonly actions: PlayActions }) {
  const { state } = useStore();
  const { play } = state.value;
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
      <SpeedSelect />
      <span class="searching" role="status">
        {actions.searching.value}
      </span>
    </div>
  );
}

function SpeedSelect() {
  const { state, go } = useStore();
  const setSpeed = (value: string) => {
    const speed = SPEEDS.find((known): known is Speed => String(known) === value);
    if (speed !== undefined) go({ speed });
  };
  return (
    <select
      class="span"
      aria-label="Speed"
      title="Seconds of the past in one second"
      value={String(state.value.speed)}
      onChange={(event) => setSpeed(event.currentTarget.value)}
    >
      {SPEEDS.map((speed) => (
        <option key={speed} value={String(speed)}>{`${speed}×`}</option>
      ))}
    </select>
  );
}

/** Not in a list of options, where keys choose one. */
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
    // On a button it presses the button.
    ...(isSlider && { " ": actions.togglePlay }),
  }[key];
  if (!action) return;
  event.preventDefault();
  action();
}
