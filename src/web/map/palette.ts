/**
 * The colours of the map in the dark and in the light scheme. Text and shapes have a contrast of at least 4.5:1 to their
 * background, lines of at least 3:1. The `dimmed` colours are below that on purpose. The scheme is that of the system, or the
 * theme that the user has chosen.
 */
import { effect, signal } from "@preact/signals";
import { loadText, saveText } from "../data/browser-storage.ts";

const COLORS = {
  background: { dark: "#0e1319", light: "#f4f6f8" },
  clusterFill: { dark: "#141b23", light: "#ffffff" },
  clusterBorder: { dark: "#222c38", light: "#dce3ea" },
  clusterText: { dark: "#8494a7", light: "#5b6b7c" },
  text: { dark: "#d5dde7", light: "#1b2733" },
  muted: { dark: "#8b99aa", light: "#566574" },
  node: { dark: "#8fb4da", light: "#2f6397" },
  nodeFill: { dark: "#1d2f43", light: "#dcebf8" },
  host: { dark: "#7f8fa3", light: "#5e7082" },
  line: { dark: "#5a6e85", light: "#798b9d" },
  down: { dark: "#ff7b72", light: "#c0271d" },
  downFill: { dark: "#2a1517", light: "#fdecea" },
  /** The colours of contradictory reports and of updated entities in a comparison. */
  warning: { dark: "#e3b341", light: "#8f5b00" },
  warningFill: { dark: "#2c2410", light: "#fff4d6" },
  accent: { dark: "#58c4dc", light: "#007a99" },
  added: { dark: "#56d364", light: "#1a7f37" },
  addedFill: { dark: "#12261a", light: "#e3f6e8" },
  /** The colours of drift, which people with any colour vision can distinguish. */
  missing: { dark: "#f0a30a", light: "#8a5300" },
  unplanned: { dark: "#56b4e9", light: "#00629b" },
  unplannedFill: { dark: "#10273a", light: "#dcedf9" },
  differs: { dark: "#e08fc0", light: "#94306c" },
  differsFill: { dark: "#2e1626", light: "#fae7f2" },
  /** The colours of values on links, from the smallest to the largest. Each has more contrast to the background than the one before. */
  value1: { dark: "#4a63c9", light: "#4b95b5" },
  value2: { dark: "#2f8fae", light: "#3b72c2" },
  value3: { dark: "#4fb583", light: "#6a3fb0" },
  value4: { dark: "#c3cf4a", light: "#741472" },
  value5: { dark: "#fff1b8", light: "#360733" },
  dimmed: { dark: "#29333f", light: "#ccd5dd" },
  dimmedFill: { dark: "#12181f", light: "#f0f3f6" },
} as const;

export type Palette = Readonly<Record<keyof typeof COLORS, string>>;

const paletteOf = (scheme: "dark" | "light") =>
  Object.fromEntries(Object.entries(COLORS).map(([name, color]) => [name, color[scheme]])) as Palette;

/** Both palettes, for the test of their contrasts. */
export const PALETTES = { dark: paletteOf("dark"), light: paletteOf("light") } as const;

const prefersDark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORAGE_KEY = "gazetteer.theme";
const storedTheme = loadText(STORAGE_KEY);
/** The theme that the user has chosen in this browser. */
export const theme = signal<Theme>(THEMES.find((name) => name === storedTheme) ?? "system");

export function chooseTheme(next: Theme): void {
  saveText(STORAGE_KEY, next === "system" ? "" : next);
  theme.value = next;
}

/** Keeps the style sheets in the chosen theme: they read it from the root element. */
export function syncTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function currentPalette(): Palette {
  const chosen = theme.peek();
  return PALETTES[chosen === "system" ? (prefersDark().matches ? "dark" : "light") : chosen];
}

export function onPaletteChange(listener: () => void): void {
  prefersDark().addEventListener("change", listener);
  let isFirst = true;
  theme.subscribe(() => {
    if (!isFirst) listener();
    isFirst = false;
  });
}
