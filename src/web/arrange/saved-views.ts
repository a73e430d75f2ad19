/** The saved views of the browser: a list of views by name, kept in its local storage and shared by its tabs. */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { MapView } from "../../model/map-view.ts";
import { type Checked, checkView } from "./checked-view.ts";
import { keepViews, MAX_VIEWS, readViews, VIEWS_KEY } from "./kept.ts";

export interface SavedViews {
  readonly list: ReadonlySignal<readonly MapView[]>;
  /** Replaces a view of the same name. */
  save(view: MapView): Checked<MapView>;
  rename(from: string, to: string): Checked<MapView>;
  remove(name: string): void;
}

export function createSavedViews(): SavedViews {
  const list = signal(readViews());
  window.addEventListener("storage", (event) => {
    if (event.key === VIEWS_KEY) list.value = readViews();
  });
  const replace = (next: readonly MapView[]): boolean => {
    if (!keepViews(next)) return false;
    list.value = next;
    return true;
  };
  const put = (view: MapView, others: readonly MapView[]): Checked<MapView> => {
    const checked = checkView(view);
    if (!checked.ok) return checked;
    if (others.length >= MAX_VIEWS)
      return { ok: false, message: `This browser keeps at most ${MAX_VIEWS} views.` };
    const sorted = [...others, view].sort((a, b) => a.name.localeCompare(b.name));
    return replace(sorted) ? checked : { ok: false, message: "The storage of this browser is full." };
  };
  return {
    list,
    save: (view) =>
      put(
        view,
        list.peek().filter(({ name }) => name !== view.name),
      ),
    rename(from, to) {
      const view = list.peek().find(({ name }) => name === from);
      if (!view) return { ok: false, message: `There is no view ${from}.` };
      if (from !== to && list.peek().some(({ name }) => name === to))
        return { ok: false, message: `There is a view ${to} already.` };
      return put(
        { ...view, name: to },
        list.peek().filter(({ name }) => name !== from),
      );
    },
    remove: (name) => void replace(list.peek().filter((view) => view.name !== name)),
  };
}
