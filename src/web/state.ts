/**
 * What the page shows, as one value, and that value as the address of the page: whoever gets the address sees the
 * same. Only what differs from the plain map is written, so that the address stays short enough to paste.
 */
export const VIEWS = ["map", "devices", "links", "hosts"] as const;
export type View = (typeof VIEWS)[number];
export type TableView = Exclude<View, "map">;

/** What a person may point at. The id is that of the interface. */
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

export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly ratio: number;
}

export interface ViewState {
  readonly view: View;
  readonly selected: EntityRef | undefined;
  /** What the map lets stand out; empty means everything. */
  readonly types: readonly string[];
  readonly states: readonly string[];
  readonly sources: readonly string[];
  readonly around: string | undefined;
  readonly hops: number;
  readonly path: readonly [EntityRef, EntityRef] | undefined;
  /** Devices whose hosts are drawn. */
  readonly expanded: readonly string[];
  /** A moment of the past, RFC 3339; undefined is now. */
  readonly at: string | undefined;
  /** An earlier moment to compare with. */
  readonly compare: string | undefined;
  /** How much of the past the time line shows. */
  readonly span: TimeSpan;
  readonly changes: boolean;
  /** The words in the filter box of a table, and its order. */
  readonly filter: string;
  readonly sort: string;
  readonly camera: Camera | undefined;
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
  expanded: [],
  at: undefined,
  compare: undefined,
  span: "1h",
  changes: false,
  filter: "",
  sort: "",
  camera: undefined,
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
  const put = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "") query.append(name, value);
  };
  if (state.view !== "map") put("view", state.view);
  put("selected", state.selected && formatRef(state.selected));
  put("type", state.types.join(","));
  put("state", state.states.join(","));
  for (const source of state.sources) put("source", source);
  put("around", state.around);
  if (state.around !== undefined && state.hops !== 1) put("hops", String(state.hops));
  for (const end of state.path ?? []) put("path", formatRef(end));
  for (const device of state.expanded) put("hosts", device);
  put("at", state.at);
  put("compare", state.compare);
  if (state.span !== DEFAULT_STATE.span) put("span", state.span);
  if (state.changes) put("changes", "1");
  put("filter", state.filter);
  put("sort", state.sort);
  if (state.camera) {
    const { x, y, ratio } = state.camera;
    put("camera", [x, y, ratio].map((n) => Number(n.toFixed(4))).join(","));
  }
  const text = query.toString();
  // These are legible as they are, and allowed in a query.
  return text === "" ? "/" : `/?${text.replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/")}`;
}

/** What is not understood is left out: an old address still shows something. */
export function parseState(search: string): ViewState {
  const query = new URLSearchParams(search);
  const words = (name: string) => (query.get(name) ?? "").split(",").filter((word) => word !== "");
  const text = (name: string) => query.get(name) || undefined;
  const [from, to] = query.getAll("path").map(parseRef);
  const hops = Math.round(Number(query.get("hops") ?? 1));
  return {
    view: VIEWS.find((view) => view === query.get("view")) ?? "map",
    selected: parseRef(query.get("selected")),
    types: words("type"),
    states: words("state"),
    sources: query.getAll("source"),
    around: text("around"),
    hops: hops >= 1 && hops <= MAX_HOPS ? hops : 1,
    path: from && to ? [from, to] : undefined,
    expanded: query.getAll("hosts"),
    at: parseMoment(query.get("at")),
    compare: parseMoment(query.get("compare")),
    span: SPAN_NAMES.find((span) => span === query.get("span")) ?? DEFAULT_STATE.span,
    changes: query.get("changes") === "1",
    filter: query.get("filter") ?? "",
    sort: query.get("sort") ?? "",
    camera: parseCamera(query.get("camera")),
  };
}

function parseMoment(text: string | null): string | undefined {
  return text && (/^\d{1,15}$/.test(text) || Number.isFinite(Date.parse(text))) ? text : undefined;
}

function parseCamera(text: string | null): Camera | undefined {
  const [x, y, ratio] = (text ?? "").split(",").map(Number);
  if (x === undefined || y === undefined || ratio === undefined) return undefined;
  return Number.isFinite(x) && Number.isFinite(y) && ratio > 0 && ratio < 1000 ? { x, y, ratio } : undefined;
}
