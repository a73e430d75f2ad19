/** The actions of the user on views: open, close, save, rename and delete. */

import { effect } from "@preact/signals";
import type { MapView } from "../../model/map-view.ts";
import type { PageStore } from "../data/page-store.ts";
import { formatState, parseState, VIEW_FRAGMENT } from "../data/view-state.ts";
import type { Checked } from "./arrangement.ts";
import { decodeViewLink } from "./view-link.ts";

/** The current state and arrangement of the page as a view. */
export function currentView({ state, arranging }: PageStore, name: string): MapView {
  const query = formatState({ ...state.value, saved: undefined }).replace(/^\/\??/, "");
  const arrangement = arranging.shown.value;
  return { name, state: query, ...(Object.keys(arrangement).length > 0 && { arrangement }) };
}

export function openView({ arranging, go }: PageStore, { name, state }: MapView): void {
  leaveView(arranging);
  go({ ...parseState(state), saved: name });
}

/** Returns to the user's own arrangement. The rest of the page stays as it is. */
export function closeView({ arranging, go }: PageStore): void {
  leaveView(arranging);
  go({ saved: undefined });
}

/** Saves what the page shows as a view, and opens that view. */
export function saveView(store: PageStore, name: string): Checked<MapView> {
  const checked = store.arranging.views.save(currentView(store, name));
  if (checked.ok) {
    leaveView(store.arranging);
    store.go({ saved: name });
  }
  return checked;
}

export function renameView(store: PageStore, from: string, to: string): Checked<MapView> {
  const checked = store.arranging.views.rename(from, to);
  if (checked.ok && store.state.peek().saved === from) store.adjust({ saved: to });
  return checked;
}

export function deleteView(store: PageStore, name: string): void {
  store.arranging.views.remove(name);
  if (store.state.peek().saved === name) closeView(store);
}

/** Discards unsaved changes, and the view of a link. */
function leaveView({ linked, dropDraft }: PageStore["arranging"]): void {
  dropDraft();
  if (!linked.peek()) return;
  history.replaceState(null, "", location.pathname + location.search);
  linked.value = undefined;
}

/** Opens the view of a link, and notifies the user when the link or the name in the address is not a view. */
export function syncViews(store: PageStore): void {
  const { arranging, state, settings } = store;
  const read = async (): Promise<void> => {
    const fragment = location.hash;
    if (!fragment.startsWith(VIEW_FRAGMENT)) {
      arranging.linked.value = undefined;
      return;
    }
    const checked = await decodeViewLink(fragment);
    if (fragment !== location.hash) return;
    if (!checked.ok) {
      // The fragment is removed, because the next reload would otherwise report it again.
      history.replaceState(null, "", location.pathname + location.search);
      arranging.linked.value = undefined;
      store.notify(`The view of this link cannot be shown: ${checked.message}.`);
      return;
    }
    arranging.linked.value = checked.value;
    // After a reload the address already has the state that the user had, and that state is kept.
    if (location.search === "") store.adjust(parseState(checked.value.state));
  };
  addEventListener("hashchange", () => void read());
  void read();

  let reported: string | undefined;
  effect(() => {
    const { saved } = state.value;
    const isUnknown = saved !== undefined && settings.value !== undefined && !arranging.opened.value;
    if (isUnknown && saved !== reported)
      store.notify(`There is no view ${saved} in this browser or in the configuration.`);
    reported = isUnknown ? saved : undefined;
  });
}
