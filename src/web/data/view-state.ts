/**
 * The view state: everything that decides what the page shows, as one value that is written to the address of the page
 * and parsed from it. The same address shows the same view. Defaults are left out, so that addresses stay short.
 */

import { signal } from "@preact/signals";
import { PROBLEM_SEVERITIES, type ProblemSeverity } from "../../model/problem-kinds.ts";

export const VIEWS = ["map", "devices", "links", "hosts"] as const;
export type ViewName = (typeof VIEWS)[number];
export type TableView = Exclude<ViewName, "map">;

/** The titles of the views. The table of links has one row for each cable. */
export const VIEW_TITLES: Readonly<Record<ViewName, string>> = {
  map: "Map",
  devices: "Devices",
  links: "Cables",
  hosts: "Hosts",
};

/** A device, link or host by its id in the interface. */
export interface EntityRef {
  readonly kind: TableView;
  readonly id: string;
}

export const SPAN_MS = {
  "15min": 900_000,
  "1h": 3_600_000,
  "6h": 21_600_000,
  "1d": 86_400_000,
  "7d": 604_800_000,
  "30d": 2_592_000_000,
} as const;
export type TimeSpan = keyof typeof SPAN_MS;
const SPAN_NAMES = ["15min", "1h", "6h", "1d", "7d", "30d"] as const satisfies readonly TimeSpan[];

/** The speeds of playback in seconds of the past per second. */
export const SPEEDS = [1, 10, 60, 600] as const;
export type Speed = (typeof SPEEDS)[number];

/** The entities that the map marks and the panel lists: those that differ from the plan, or about which reports contradict each other. */
export const LAYERS = ["drift", "conflicts"] as const;
export type MarkLayer = (typeof LAYERS)[number];

export const LAYER_TITLES: Readonly<Record<MarkLayer, string>> = {
  drift: "Not as planned",
  conflicts: "Contradictory reports",
};

/** The section of the map that is visible, relative to the device nearest to its centre, in map units. */
export interface Camera {
  readonly device: string;
  /** The offset of the centre from the device; y points upwards. */
  readonly dx: number;
  readonly dy: number;
  /** The length of the shorter side of the map. */
  readonly span: number;
}

/** The form of a field in the address: the values of a parameter. The default has no values. */
interface Field<T> {
  readonly name: string;
  parse(values: readonly string[]): T;
  format(value: T): readonly string[];
}

const text = (name: string): Field<string> => ({
  name,
  parse: ([value = ""]) => value,
  format: (value) => (value === "" ? [] : [value]),
});

const optionalText = (name: string): Field<string | undefined> => ({
  name,
  parse: ([value]) => value || undefined,
  format: (value) => (value ? [value] : []),
});

const flag = (name: string): Field<boolean> => ({
  name,
  parse: ([value]) => value === "1",
  format: (value) => (value ? ["1"] : []),
});

const choice = <T, const D extends T | undefined>(
  name: string,
  choices: readonly T[],
  fallback: D,
): Field<T | D> => ({
  name,
  parse: ([value]) => choices.find((one) => String(one) === value) ?? fallback,
  format: (value) => (value === fallback ? [] : [String(value)]),
});

/** Several values in one parameter, separated by commas. */
const list = (name: string): Field<readonly string[]> => ({
  name,
  parse: ([value = ""]) => value.split(",").filter((item) => item !== ""),
  format: (value) => (value.length === 0 ? [] : [value.join(",")]),
});

/** One parameter for each value, which may contain commas. */
const repeated = (name: string): Field<readonly string[]> => ({
  name,
  parse: (values) => values,
  format: (values) => values.filter((value) => value !== ""),
});

const moment = (name: string): Field<string | undefined> => ({
  ...optionalText(name),
  parse: ([value]) => (value === undefined ? undefined : parseMoment(value)),
});

const formatRef = ({ kind, id }: EntityRef): string => `${kind}:${id}`;

function parseRef(value = ""): EntityRef | undefined {
  const [, kind, id] = /^(devices|links|hosts):(.+)$/s.exec(value) ?? [];
  const view = VIEWS.find((one) => one === kind);
  return view === undefined || view === "map" || id === undefined ? undefined : { kind: view, id };
}

const selected: Field<EntityRef | undefined> = {
  name: "selected",
  parse: ([value]) => parseRef(value),
  format: (value) => (value ? [formatRef(value)] : []),
};

const path: Field<readonly [EntityRef, EntityRef] | undefined> = {
  name: "path",
  parse(values) {
    const [from, to] = values.map(parseRef);
    return from && to && [from, to];
  },
  format: (ends) => (ends ?? []).map(formatRef),
};

const severities: Field<readonly ProblemSeverity[]> = {
  ...list("severity"),
  parse: ([value = ""]) => PROBLEM_SEVERITIES.filter((severity) => value.split(",").includes(severity)),
};

const camera: Field<Camera | undefined> = {
  name: "camera",
  parse([value = ""]) {
    const [dx, dy, span, ...device] = value.split(",");
    const camera = { device: device.join(","), dx: Number(dx), dy: Number(dy), span: Number(span) };
    const isValid = camera.device !== "" && Number.isFinite(camera.dx) && Number.isFinite(camera.dy);
    return isValid && camera.span > 0 && camera.span < 1e9 ? camera : undefined;
  },
  format: (value) => (value ? [[value.dx, value.dy, value.span, value.device].join(",")] : []),
};

export const MAX_HOPS = 9;
const HOPS = Array.from({ length: MAX_HOPS }, (_, i) => i + 1);

/** The fields of the state in the order of the address. A new field is a new line here. */
const FIELDS = {
  view: choice("view", VIEWS, "map"),
  selected,
  /** The filters that highlight devices and links on the map; an empty list is no filter. */
  types: list("type"),
  states: list("state"),
  sources: repeated("source"),
  around: optionalText("around"),
  /** The size of the neighbourhood of `around`. */
  hops: choice("hops", HOPS, 1),
  path,
  layer: choice("layer", LAYERS, undefined),
  /** The name of the metric that the map shows on links. */
  metric: optionalText("metric"),
  /** The devices whose hosts the map draws. */
  expanded: repeated("hosts"),
  /** The moment that is shown: an RFC 3339 time or a revision. Undefined is now. */
  at: moment("at"),
  /** The earlier moment of a comparison. */
  compare: moment("compare"),
  /** Whether playback runs, and its speed. Only the past can be played. */
  play: flag("play"),
  speed: choice("speed", SPEEDS, 60),
  /** The range of the time line. */
  span: choice("span", SPAN_NAMES, "1h"),
  /** Whether the panel lists recent changes. */
  changes: flag("changes"),
  /** Whether the problems are listed, their severities (empty is all), and whether the list has acknowledged ones. */
  problems: flag("problems"),
  severities,
  acknowledged: flag("acknowledged"),
  /** The id of the problem that the map marks. */
  problem: optionalText("problem"),
  /** Whether the page shows only map, problems and clock, for a screen on a wall. */
  wall: flag("wall"),
  /** The filter of a table, and the field it is sorted by, with `-` for descending. */
  filter: text("filter"),
  sort: text("sort"),
  camera,
  /** The name of the saved view whose arrangement the map shows. */
  saved: optionalText("saved"),
} as const;

export type ViewState = {
  readonly [K in keyof typeof FIELDS]: ReturnType<(typeof FIELDS)[K]["parse"]>;
};

const FIELD_OF: { readonly [K in keyof ViewState]: Field<ViewState[K]> } = FIELDS;
const KEYS = Object.keys(FIELDS) as (keyof ViewState)[];

export function formatState(state: ViewState): string {
  const query = new URLSearchParams();
  const append = <K extends keyof ViewState>(key: K) => {
    for (const value of FIELD_OF[key].format(state[key])) query.append(FIELD_OF[key].name, value);
  };
  for (const key of KEYS) append(key);
  if (state.around === undefined) query.delete("hops");
  if (state.at === undefined) query.delete("play");
  return query.size === 0 ? "/" : `/?${readableQuery(query)}`;
}

/** Leaves characters as they are that a query may contain, so that ids stay readable. */
export const readableQuery = (query: URLSearchParams): string =>
  query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/");

/** Ignores parameters that it cannot parse, so that an outdated address still shows a view. */
export function parseState(search: string): ViewState {
  const query = new URLSearchParams(search);
  const values = KEYS.map((key) => [key, FIELDS[key].parse(query.getAll(FIELDS[key].name))]);
  const state = Object.fromEntries(values) as ViewState;
  return { ...state, play: state.play && state.at !== undefined };
}

export const DEFAULT_STATE = parseState("");

export const isSameEntity = (a: EntityRef | undefined, b: EntityRef | undefined): boolean =>
  a?.kind === b?.kind && a?.id === b?.id;

/**
 * Parses a revision, or a time into the form that the service writes. A time in another zone, a day without a time, or a
 * time with an unescaped `+` (which is then a space) becomes the same time in UTC.
 */
function parseMoment(text: string): string | undefined {
  if (/^\d{1,15}$/.test(text)) return text;
  const ms = Date.parse(text.trim().replace(/(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$/, "$1+$2"));
  if (!/^\d{4}-\d\d/.test(text) || !Number.isFinite(ms)) return undefined;
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

/** Whether a moment of the address is a revision, not a time. */
export const isRevision = (moment: string): boolean => /^\d+$/.test(moment);

/** The prefix of an encoded view in the fragment of an address. */
export const VIEW_FRAGMENT = "#view=";

/** The fragment with the view from a link, which stays in the address while the view is shown. */
const viewFragment = (): string => (location.hash.startsWith(VIEW_FRAGMENT) ? location.hash : "");

export type Navigation = ReturnType<typeof createNavigation>;

/** The view state as a signal that is kept equal to the address bar. */
export function createNavigation() {
  const state = signal(parseState(location.search));
  addEventListener("popstate", () => {
    state.value = parseState(location.search);
  });
  return {
    state,
    /** Changes the state and adds an entry to the browser's history. */
    go(patch: Partial<ViewState>): void {
      const next = { ...state.peek(), ...patch };
      const address = formatState(next) + viewFragment();
      if (address !== location.pathname + location.search + viewFragment())
        history.pushState(null, "", address);
      state.value = next;
    },
    /** Replaces the current entry, so that Back returns to the previous step and not to the previous camera move. */
    adjust(patch: Partial<ViewState>): void {
      const next = { ...state.peek(), ...patch };
      history.replaceState(null, "", formatState(next) + viewFragment());
      state.value = next;
    },
  };
}
