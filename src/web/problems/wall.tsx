/**
 * Wall mode: the map, the problems, a clock and the state of the connection, without bars, in full screen where the browser
 * allows it. `wall=1` in the address opens it; a browser goes to full screen only after a click.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { PROBLEM_SEVERITIES, type ProblemSeverity } from "../../model/problem-kinds.ts";
import { statusOf } from "../bar/status.tsx";
import { type PageStore, useStore } from "../data/page-store.ts";
import { DEFAULT_STATE } from "../data/view-state.ts";
import { Button } from "../elements/controls.tsx";
import { formatFullTime } from "../elements/format-time.ts";
import { ProblemSign, SEVERITY_SIGNS } from "./signs.tsx";

const CLOCK_INTERVAL_MS = 1000;
/** The severities that are counted. Notices are left out, because nobody has to act on them. */
const SEVERITIES = PROBLEM_SEVERITIES.filter((severity) => severity !== "notice");

/** Must be called by a click. The wall shows the present, because it has no time line that would show another moment. */
export function enterWall({ go }: PageStore): void {
  const { at, compare, play } = DEFAULT_STATE;
  go({ wall: true, view: "map", selected: undefined, at, compare, play });
  requestFullScreen();
}

/** Ignores a failure: where there is no full screen, as on some phones, the page fills the window. */
function requestFullScreen(): void {
  document.documentElement.requestFullscreen?.().catch(() => {});
}

export function WallBar() {
  const store = useStore();
  const { go, problems, state } = store;
  const isPast = state.value.at !== undefined;
  const isFull = useSignal(document.fullscreenElement !== null);
  useLayoutEffect(() => {
    const end = new AbortController();
    const leave = () => go({ wall: false });
    const onFullScreen = () => {
      isFull.value = document.fullscreenElement !== null;
      // This may be the first event, because a slow browser reports entering and leaving together.
      if (!isFull.peek()) leave();
    };
    document.addEventListener("fullscreenchange", onFullScreen, { signal: end.signal });
    // The key is captured, because the map would otherwise clear its selection.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      leave();
    };
    document.addEventListener("keydown", onKeyDown, { signal: end.signal, capture: true });
    document.body.classList.add("wall");
    return () => {
      end.abort();
      document.body.classList.remove("wall");
      if (document.fullscreenElement) void document.exitFullscreen();
    };
  }, []);
  const { level, text } = statusOf(store);
  const sections = problems.liveSections.value;
  const countOf = (severity: ProblemSeverity) => sections[severity].waiting.length;
  return (
    <header class="wall-bar">
      <h1>Gazetteer</h1>
      <p class="status status-face" data-level={level}>
        <span class="dot" />
        <span role="status">{text}</span>
      </p>
      <ul class="wall-counts" aria-label="Problems of now that are not acknowledged and follow from no other">
        {isPast && <li>Now:</li>}
        {SEVERITIES.map((severity) => (
          <li key={severity} class={countOf(severity) === 0 ? "none" : ""}>
            <ProblemSign sign={SEVERITY_SIGNS[severity]} severity={severity} />
            {`${SEVERITY_SIGNS[severity].title} `}
            <strong>{countOf(severity).toLocaleString("en")}</strong>
          </li>
        ))}
      </ul>
      <WallClock />
      {!isFull.value && <Button label="Full screen" icon="fit" onClick={requestFullScreen} />}
      <Button label="Leave wall mode" icon="close" onClick={() => go({ wall: false })} />
    </header>
  );
}

function WallClock() {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, CLOCK_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time class="wall-clock" dateTime={new Date(now.value).toISOString()}>
      {formatFullTime(now.value)}
    </time>
  );
}
