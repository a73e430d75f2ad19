/** Opens the view of a link, and reports a link or a name in the address that is no view. */
import { effect } from "@preact/signals";
import type { Store } from "../data/page-store.ts";
import { parseState, VIEW_FRAGMENT } from "../data/view-state.ts";
import { decodeViewLink } from "./view-link.ts";

export function syncViews(store: Store): void {
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
      // Otherwise the next reload would report it again.
      history.replaceState(null, "", location.pathname + location.search);
      arranging.linked.value = undefined;
      store.notify(`The view of this link cannot be shown: ${checked.message}.`);
      return;
    }
    arranging.linked.value = checked.value;
    // The address may have a state already: after a reload it is that which the user had.
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
