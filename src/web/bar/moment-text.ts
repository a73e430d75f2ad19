/** Which moment the page shows, in words. While the moment of the address is loaded, the words say so. */

import type { Store } from "../data/page-store.ts";
import { isRevision, type ViewState } from "../data/view-state.ts";
import { formatFullTime, formatShortTime } from "../elements/format-time.ts";

const formatMoment = (at: string, formatTime = formatFullTime): string =>
  isRevision(at) ? `revision ${at}` : formatTime(Date.parse(at));

type MomentStore = Pick<Store, "state" | "shownMoments" | "isMomentLoading">;

/** One chip, or none at the present. */
export function momentChip(store: MomentStore): { text: string; undo: Partial<ViewState> }[] {
  const { compare } = store.state.value;
  // A play is a step ahead of what is shown.
  const at = store.state.value.play
    ? (store.shownMoments.value.at ?? store.state.value.at)
    : store.state.value.at;
  const isLoading = store.isMomentLoading.value;
  if (compare !== undefined) {
    const moments = `${formatMoment(compare)} → ${at === undefined ? "now" : formatMoment(at)}`;
    return [
      { text: isLoading ? `Loading ${moments}…` : `Compared: ${moments}`, undo: { compare: undefined } },
    ];
  }
  if (at === undefined) return [];
  const moment = formatMoment(at);
  return [{ text: isLoading ? `Loading ${moment}…` : `As of ${moment}`, undo: { at: undefined } }];
}

/** Short, for the state of the page; undefined when nothing is loaded. */
export function loadingMomentText(store: MomentStore): string | undefined {
  const { at, compare } = store.state.value;
  const moment = at ?? compare;
  if (moment === undefined || !store.isMomentLoading.value) return undefined;
  return `Loading ${formatMoment(moment, formatShortTime)}…`;
}
