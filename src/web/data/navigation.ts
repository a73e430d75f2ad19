/**
 * The view state as a signal that is kept equal to the address bar. `go` adds an entry to the browser's history;
 * `adjust` replaces the current entry, so that Back returns to the previous step and not to the previous camera move.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { formatState, parseState, type ViewState } from "./view-state.ts";

export interface Navigation {
  readonly state: ReadonlySignal<ViewState>;
  go(patch: Partial<ViewState>): void;
  adjust(patch: Partial<ViewState>): void;
}

/** Before the text of a view in the fragment of an address. */
export const VIEW_FRAGMENT = "#view=";

/** A view from a link stays in the address while it is shown. */
const viewFragment = (): string => (location.hash.startsWith(VIEW_FRAGMENT) ? location.hash : "");

export function createNavigation(): Navigation {
  const state = signal(parseState(location.search));
  addEventListener("popstate", () => {
    state.value = parseState(location.search);
  });
  return {
    state,
    go(patch) {
      const next = { ...state.peek(), ...patch };
      const address = formatState(next) + viewFragment();
      if (address !== location.pathname + location.search + viewFragment())
        history.pushState(null, "", address);
      state.value = next;
    },
    adjust(patch) {
      const next = { ...state.peek(), ...patch };
      history.replaceState(null, "", formatState(next) + viewFragment());
      state.value = next;
    },
  };
}
