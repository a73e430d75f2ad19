/**
 * The arrangement that the map shows, and its changes. Without an opened view it is the user's own arrangement, which the
 * browser stores. With an opened view it is the arrangement of that view: changes are a draft until they are saved, and
 * the user's own arrangement does not change.
 */
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { MapSettings } from "../../model/map-settings.ts";
import type { Arrangement, MapView } from "../../model/map-view.ts";
import { loadText, saveText } from "../data/browser-storage.ts";
import { throttle } from "../data/pacing.ts";
import type { Navigation } from "../data/view-state.ts";
import type { PinnedPositions } from "../layout/layout-client.ts";
import { type Checked, checkArrangement, checkView } from "./arrangement.ts";

type ViewOrigin = "browser" | "configuration" | "link";

interface OpenedView {
  readonly view: MapView;
  readonly origin: ViewOrigin;
}

export type Arranging = ReturnType<typeof createArranging>;

const MAX_UNDO = 100;
const KEEP_INTERVAL_MS = 250;
const OWN = "own";

interface Edits {
  /** The arrangement that was changed: `own`, or the origin and name of a view. */
  readonly of: string;
  readonly before: readonly Arrangement[];
  readonly now: Arrangement | undefined;
  readonly step: string | undefined;
}

const NO_EDITS: Edits = { of: OWN, before: [], now: undefined, step: undefined };

export function createArranging({ state }: Navigation, settings: ReadonlySignal<MapSettings | undefined>) {
  const own = signal(readArrangement());
  /** Whether the browser failed to store the last change. */
  const isLost = signal(false);
  /** The view from a link that was opened. */
  const linked = signal<MapView | undefined>(undefined);
  const views = createSavedViews();
  const edits = signal(NO_EDITS);
  const opened = computed((): OpenedView | undefined => {
    if (linked.value) return { view: linked.value, origin: "link" };
    const { saved } = state.value;
    if (saved === undefined) return undefined;
    const ofBrowser = views.list.value.find(({ name }) => name === saved);
    if (ofBrowser) return { view: ofBrowser, origin: "browser" };
    const configured = settings.value?.views.find(({ name }) => name === saved);
    return configured && { view: configured, origin: "configuration" };
  });
  /** The origin and name of the opened view, or `own` when no view is open. */
  const key = computed(() => (opened.value ? `${opened.value.origin} ${opened.value.view.name}` : OWN));
  const current = computed(() =>
    edits.value.of === key.value ? edits.value : { ...NO_EDITS, of: key.value },
  );
  const saved = computed(() => (opened.value ? opened.value.view.arrangement : own.value));
  const shown = computed(() => (opened.value ? current.value.now : undefined) ?? saved.value ?? NOTHING);
  const pins = computed(() => shown.value.pins);

  let kept = own.peek();
  const keep = () => {
    if (kept === own.peek()) return;
    kept = own.peek();
    isLost.value = !keepArrangement(kept);
  };
  const keepSoon = throttle(KEEP_INTERVAL_MS, keep);
  effect(() => {
    if (own.value !== kept) keepSoon();
  });
  addEventListener("pagehide", keep);
  // Another tab of the same browser changed the arrangement.
  window.addEventListener("storage", (event) => {
    if (event.key !== ARRANGEMENT_KEY) return;
    kept = readArrangement();
    own.value = kept;
  });

  const set = (now: Arrangement, before: readonly Arrangement[], step: string | undefined) => {
    if (!opened.peek()) own.value = now;
    edits.value = { of: key.peek(), before, now, step };
  };
  const isOn = signal(false);
  const chosen = signal(NO_DEVICES);
  effect(() => {
    if (!isOn.value) chosen.value = NO_DEVICES;
  });
  return {
    /** Whether drags and arrow keys move devices. */
    isOn,
    /** The devices that the user chose to move together. */
    chosen,
    /** Adds the device to the chosen ones, or takes it out. */
    toggleChosen(device: string): void {
      const next = new Set(chosen.peek());
      if (!next.delete(device)) next.add(device);
      chosen.value = next;
    },
    shown,
    opened,
    key,
    isLost,
    views,
    linked,
    /** Pinned positions by device id, with y upwards as in the layout. */
    pinned: computed(
      (): PinnedPositions => new Map(pins.value?.map(({ device, x, y }) => [device, { x, y: -y }])),
    ),
    /** Whether the opened view has unsaved changes. */
    isDraft: computed(() => opened.value !== undefined && current.value.before.length > 0),
    canUndo: computed(() => current.value.before.length > 0),
    /** Consecutive changes with the same `step` are undone together. */
    change(next: Arrangement, step?: string): void {
      const { before, step: last } = current.peek();
      const continues = step !== undefined && step === last && before.length > 0;
      set(next, continues ? before : [...before, shown.peek()].slice(-MAX_UNDO), step);
    },
    undo(): void {
      const { before } = current.peek();
      const last = before.at(-1);
      if (last) set(last, before.slice(0, -1), undefined);
    },
    /** Discards the unsaved changes of the opened view. */
    dropDraft(): void {
      edits.value = NO_EDITS;
    },
  };
}

const NOTHING: Arrangement = {};
export const NO_DEVICES: ReadonlySet<string> = new Set();

/** The views that the browser stores, sorted by name, in its local storage, which its tabs share. */
function createSavedViews() {
  const list = signal(readViews());
  window.addEventListener("storage", (event) => {
    if (event.key === VIEWS_KEY) list.value = readViews();
  });
  const without = (name: string) => list.peek().filter((view) => view.name !== name);
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
    /** Replaces a view of the same name. */
    save: (view: MapView) => put(view, without(view.name)),
    rename(from: string, to: string): Checked<MapView> {
      const view = list.peek().find(({ name }) => name === from);
      if (!view) return { ok: false, message: `There is no view ${from}.` };
      if (from !== to && list.peek().some(({ name }) => name === to))
        return { ok: false, message: `There is a view ${to} already.` };
      return put({ ...view, name: to }, without(from));
    },
    remove: (name: string) => void replace(without(name)),
  };
}

const ARRANGEMENT_KEY = "gazetteer.arrangement";
const VIEWS_KEY = "gazetteer.views";
/** Maximum length of the text in characters. Browsers store about 5 million per site; the layout uses up to 1 million. */
const MAX_ARRANGEMENT = 1_000_000;
const MAX_ALL_VIEWS = 2_500_000;
const MAX_VIEWS = 100;

/**
 * Reads the user's own arrangement. The browser stores it and the saved views as JSON of bounded size in its local storage.
 * Another version of the page or another program may have written them; what does not pass the checks counts as absent.
 */
function readArrangement(): Arrangement {
  const checked = checkArrangement(read(ARRANGEMENT_KEY));
  return checked.ok ? checked.value : {};
}

function readViews(): readonly MapView[] {
  const list = read(VIEWS_KEY);
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_VIEWS).flatMap((item) => {
    const checked = checkView(item);
    return checked.ok ? [checked.value] : [];
  });
}

/** Returns false when the browser does not store it: it is too large, there is no space, or storage is disabled. */
const keepArrangement = (arrangement: Arrangement): boolean =>
  checkArrangement(arrangement).ok &&
  write(
    ARRANGEMENT_KEY,
    Object.keys(arrangement).length === 0 ? "" : JSON.stringify(arrangement),
    MAX_ARRANGEMENT,
  );

const keepViews = (views: readonly MapView[]): boolean =>
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
