/** Keeps the state and the address bar one thing. Back and forward go through what a person did, not every nudge. */
import { formatState, parseState, type ViewState } from "./state.ts";

type Watcher = (state: ViewState, before: ViewState) => void;

export interface Navigation {
  readonly state: ViewState;
  /** A step a person can go back over. */
  go(patch: Partial<ViewState>): void;
  /** The same step, a little different: the camera moved, another letter was typed. */
  adjust(patch: Partial<ViewState>): void;
  watch(watcher: Watcher): void;
}

export function createNavigation(): Navigation {
  let state = parseState(location.search);
  const watchers: Watcher[] = [];
  const become = (next: ViewState) => {
    const before = state;
    state = next;
    for (const watcher of watchers) watcher(state, before);
  };
  addEventListener("popstate", () => become(parseState(location.search)));
  return {
    get state() {
      return state;
    },
    go(patch) {
      const next = { ...state, ...patch };
      const address = formatState(next);
      if (address !== location.pathname + location.search) history.pushState(null, "", address);
      become(next);
    },
    adjust(patch) {
      const next = { ...state, ...patch };
      history.replaceState(null, "", formatState(next));
      become(next);
    },
    watch(watcher) {
      watchers.push(watcher);
    },
  };
}
