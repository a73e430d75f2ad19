/**
 * The view state: everything that decides what the page shows, as one value that is written to the address of the page
 * and parsed from it. The same address shows the same view. Defaults are left out, so that addresses stay short.
 */

import { type ReadonlySignal, signal } from "@preact/signals";
import { PROBLEM_SEVERITIES, type ProblemSeverity } from "../../model/problem-kinds.ts";

export const VIEWS = ["map", "devices", "links", "hosts"] as const;
export type ViewName = (typeof VIEWS)[number];
export type TableView = Exclude<ViewName, "map">;

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

/** The entities that the map marks and the panel lists: those that differ from the plan, or have conflicting claims. */
export const LAYERS = ["drift", "conflicts"] as const;
export type MarkLayer = (typeof LAYERS)[number];

export const LAYER_TITLES: Readonly<Record<MarkLayer, string>> = {
  drift: "Not as planned",
  conflicts: "Conflicting claims",
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

export interface ViewState {
  readonly view: ViewName;
  readonly selected: EntityRef | undefined;
  /** The filters that highlight devices and links on the map; an empty list is no filter. */
  readonly types: readonly string[];
  readonly states: readonly string[];
  readonly sources: readonly string[];
  readonly around: string | undefined;
  readonly hops: number;
  readonly path: readonly [EntityRef, EntityRef] | undefined;
  readonly layer: MarkLayer | undefined;
  /** The name of the metric that the map shows on links. */
  readonly metric: string | undefined;
  /** The devices whose hosts the map draws. */
  readonly expanded: readonly string[];
  /** The moment that is shown: an RFC 3339 time or a revision. Undefined is now. */
  readonly at: string | undefined;
  /** The earlier moment of a comparison. */
  readonly compare: string | undefined;
  /** Whether playback runs, and its speed. */
  readonly play: boolean;
  readonly speed: Speed;
  /** The range of the time line. */
  readonly span: TimeSpan;
  /** Whether the panel lists recent changes. */
  readonly changes: boolean;
  /** Whether the problems are listed, their severities (empty is all), and whether the list has acknowledged ones. */
  readonly problems: boolean;
  readonly severities: readonly ProblemSeverity[];
  readonly acknowledged: boolean;
  /** The id of the problem that the map marks. */
  readonly problem: string | undefined;
  /** Whether the page shows only map, problems and clock, for a screen on a wall. */
  readonly wall: boolean;
  /** The filter of a table, and the field it is sorted by, with `-` for descending. */
  readonly filter: string;
  readonly sort: string;
  readonly camera: Camera | undefined;
  /** The name of the saved view whose arrangement the map shows. */
  readonly saved: string | undefined;
}

export const DEFAULT_STATE: ViewState = {
  view: "map",
  selected: undefined,
  types: [],
  states: [],
  sources: [],
  around: undefined,
  hops: 1,
  path: undefined,
  layer: undefined,
  metric: undefined,
  expanded: [],
  at: undefined,
  compare: undefined,
  play: false,
  speed: 60,
  span: "1h",
  changes: false,
  problems: false,
  severities: [],
  acknowledged: false,
  problem: undefined,
  wall: false,
  filter: "",
  sort: "",
  camera: undefined,
  saved: undefined,
};

export const MAX_HOPS = 9;

export const isSameEntity = (a: EntityRef | undefined, b: EntityRef | undefined): boolean =>
  a?.kind === b?.kind && a?.id === b?.id;

const formatRef = ({ kind, id }: EntityRef): string => `${kind}:${id}`;

function parseRef(text: string | null | undefined): EntityRef | undefined {
  const colon = text?.indexOf(":") ?? -1;
  if (!text || colon < 0) return undefined;
  const kind = VIEWS.find((view) => view === text.slice(0, colon));
  const id = text.slice(colon + 1);
  return kind === undefined || kind === "map" || id === "" ? undefined : { kind, id };
}

export function formatState(state: ViewState): string {
  const query = new URLSearchParams();
  const append = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "") query.append(name, value);
  };
  if (state.view !== "map") append("view", state.view);
  append("selected", state.selected && formatRef(state.selected));
  append("type", state.types.join(","));
  append("state", state.states.join(","));
  for (const source of state.sources) append("source", source);
  append("around", state.around);
  if (state.around !== undefined && state.hops !== 1) append("hops", String(state.hops));
  for (const end of state.path ?? []) append("path", formatRef(end));
  append("layer", state.layer);
  append("metric", state.metric);
  for (const device of state.expanded) append("hosts", device);
  append("at", state.at);
  append("compare", state.compare);
  if (state.play && state.at !== undefined) append("play", "1");
  if (state.speed !== DEFAULT_STATE.speed) append("speed", String(state.speed));
  if (state.span !== DEFAULT_STATE.span) append("span", state.span);
  if (state.changes) append("changes", "1");
  if (state.problems) append("problems", "1");
  append("severity", state.severities.join(","));
  if (state.acknowledged) append("acknowledged", "1");
  append("problem", state.problem);
  if (state.wall) append("wall", "1");
  append("filter", state.filter);
  append("sort", state.sort);
  if (state.camera) {
    const { device, dx, dy, span } = state.camera;
    append("camera", [dx, dy, span, device].join(","));
  }
  append("saved", state.saved);
  const text = query.toString();
  // A query may contain these characters, and ids stay readable with them.
  return text === "" ? "/" : `/?${text.replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/")}`;
}

/** Ignores parameters that it cannot parse, so that an outdated address still shows a view. */
export function parseState(search: string): ViewState {
  const query = new URLSearchParams(search);
  const list = (name: string) => (query.get(name) ?? "").split(",").filter((item) => item !== "");
  const text = (name: string) => query.get(name) || undefined;
  const [from, to] = query.getAll("path").map(parseRef);
  const hops = Math.round(Number(query.get("hops") ?? 1));
  return {
    view: VIEWS.find((view) => view === query.get("view")) ?? "map",
    selected: parseRef(query.get("selected")),
    types: list("type"),
    states: list("state"),
    sources: query.getAll("source"),
    around: text("around"),
    hops: hops >= 1 && hops <= MAX_HOPS ? hops : 1,
    path: from && to ? [from, to] : undefined,
    layer: LAYERS.find((layer) => layer === query.get("layer")),
    metric: text("metric"),
    expanded: query.getAll("hosts"),
    at: parseMoment(query.get("at")),
    compare: parseMoment(query.get("compare")),
    play: query.get("play") === "1" && parseMoment(query.get("at")) !== undefined,
    speed: SPEEDS.find((speed) => String(speed) === query.get("speed")) ?? DEFAULT_STATE.speed,
    span: SPAN_NAMES.find((span) => span === query.get("span")) ?? DEFAULT_STATE.span,
    changes: query.get("changes") === "1",
    problems: query.get("problems") === "1",
    severities: PROBLEM_SEVERITIES.filter((severity) => list("severity").includes(severity)),
    acknowledged: query.get("acknowledged") === "1",
    problem: text("problem"),
    wall: query.get("wall") === "1",
    filter: query.get("filter") ?? "",
    sort: query.get("sort") ?? "",
    camera: parseCamera(query.get("camera")),
    saved: text("saved"),
  };
}

/**
 * Parses a revision, or a time into the form that the service writes. A time in another zone, a day without a time, or a
 * time with an unescaped `+` (which is then a space) becomes the same time in UTC.
 */
function parseMoment(text: string | null): string | undefined {
  if (text === null || /^\d{1,15}$/.test(text)) return text || undefined;
  const ms = Date.parse(text.trim().replace(/(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$/, "$1+$2"));
  if (!/^\d{4}-\d\d/.test(text) || !Number.isFinite(ms)) return undefined;
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

/** Whether a moment of the address is a revision, not a time. */
export const isRevision = (moment: string): boolean => /^\d+$/.test(moment);

function parseCamera(text: string | null): Camera | undefined {
  const [dx, dy, span, ...device] = (text ?? "").split(",");
  const camera = { device: device.join(","), dx: Number(dx), dy: Number(dy), span: Number(span) };
  const isValid = camera.device !== "" && Number.isFinite(camera.dx) && Number.isFinite(camera.dy);
  return isValid && camera.span > 0 && camera.span < 1e9 ? camera : undefined;
}

/**
 * The view state as a signal that is kept equal to the address bar. `go` adds an entry to the browser's history;
 * `adjust` replaces the current entry, so that Back returns to the previous step and not to the previous camera move.
 */
export interface Navigation {
  readonly state: ReadonlySignal<ViewState>;
  go(patch: Partial<ViewState>): void;
  adjust(patch: Partial<ViewState>): void;
}

/** The prefix of an encoded view in the fragment of an address. */
export const VIEW_FRAGMENT = "#view=";

/** The fragment with the view from a link, which stays in the address while the view is shown. */
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
