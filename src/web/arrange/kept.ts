/**
 * What the browser keeps: the user's own arrangement and saved views, as JSON in its local storage, bounded. Another
 * version of the page or another program may have written it; what does not pass the checks counts as absent.
 */
import type { Arrangement, MapView } from "../../model/map-view.ts";
import { loadText, saveText } from "../data/storage.ts";
import { checkArrangement, checkView } from "./checked-view.ts";

export const ARRANGEMENT_KEY = "gazetteer.arrangement";
export const VIEWS_KEY = "gazetteer.views";
/** In characters. Browsers keep about 5 million for a site, and the layout needs up to 1 million of them. */
const MAX_ARRANGEMENT = 1_000_000;
const MAX_ALL_VIEWS = 2_500_000;
export const MAX_VIEWS = 100;

export function readArrangement(): Arrangement {
  const checked = checkArrangement(read(ARRANGEMENT_KEY));
  return checked.ok ? checked.value : {};
}

export function readViews(): readonly MapView[] {
  const list = read(VIEWS_KEY);
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_VIEWS).flatMap((item) => {
    const checked = checkView(item);
    return checked.ok ? [checked.value] : [];
  });
}

/** Each returns false when the browser does not keep it: too large, no space, or storage is disabled. */
export const keepArrangement = (arrangement: Arrangement): boolean =>
  write(
    ARRANGEMENT_KEY,
    Object.keys(arrangement).length === 0 ? "" : JSON.stringify(arrangement),
    MAX_ARRANGEMENT,
  );

export const keepViews = (views: readonly MapView[]): boolean =>
  views.length <= MAX_VIEWS &&
  write(VIEWS_KEY, views.length === 0 ? "" : JSON.stringify(views), MAX_ALL_VIEWS);

function read(key: string): unknown {
  try {
    return JSON.parse(loadText(key) ?? "null");
  } catch {
    return undefined;
  }
}

const write = (key: string, text: string, max: number): boolean => text.length <= max && saveText(key, text);
