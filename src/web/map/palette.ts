/**
 * The colours of the map in the dark and in the light scheme. Text and shapes have a contrast of at least 4.5:1 to their
 * background, lines of at least 3:1. The `dimmed` colours are below that on purpose.
 */
export interface Palette {
  readonly background: string;
  readonly clusterFill: string;
  readonly clusterBorder: string;
  readonly clusterText: string;
  readonly text: string;
  readonly muted: string;
  readonly node: string;
  readonly nodeFill: string;
  readonly host: string;
  readonly line: string;
  readonly down: string;
  readonly downFill: string;
  /** The colours of conflicting claims and of updated entities in a comparison. */
  readonly warning: string;
  readonly warningFill: string;
  readonly accent: string;
  readonly added: string;
  readonly addedFill: string;
  /** The colours of drift, which people with any colour vision can distinguish. */
  readonly missing: string;
  readonly unplanned: string;
  readonly unplannedFill: string;
  readonly differs: string;
  readonly differsFill: string;
  readonly dimmed: string;
  readonly dimmedFill: string;
}

const DARK_PALETTE: Palette = {
  background: "#0e1319",
  clusterFill: "#141b23",
  clusterBorder: "#222c38",
  clusterText: "#8494a7",
  text: "#d5dde7",
  muted: "#8b99aa",
  node: "#8fb4da",
  nodeFill: "#1d2f43",
  host: "#7f8fa3",
  line: "#5a6e85",
  down: "#ff7b72",
  downFill: "#2a1517",
  warning: "#e3b341",
  warningFill: "#2c2410",
  accent: "#58c4dc",
  added: "#56d364",
  addedFill: "#12261a",
  missing: "#f0a30a",
  unplanned: "#56b4e9",
  unplannedFill: "#10273a",
  differs: "#e08fc0",
  differsFill: "#2e1626",
  dimmed: "#29333f",
  dimmedFill: "#12181f",
};

const LIGHT_PALETTE: Palette = {
  background: "#f4f6f8",
  clusterFill: "#ffffff",
  clusterBorder: "#dce3ea",
  clusterText: "#5b6b7c",
  text: "#1b2733",
  muted: "#566574",
  node: "#2f6397",
  nodeFill: "#dcebf8",
  host: "#5e7082",
  line: "#798b9d",
  down: "#c0271d",
  downFill: "#fdecea",
  warning: "#8f5b00",
  warningFill: "#fff4d6",
  accent: "#007a99",
  added: "#1a7f37",
  addedFill: "#e3f6e8",
  missing: "#8a5300",
  unplanned: "#00629b",
  unplannedFill: "#dcedf9",
  differs: "#94306c",
  differsFill: "#fae7f2",
  dimmed: "#ccd5dd",
  dimmedFill: "#f0f3f6",
};

/** Both palettes, for the test of their contrasts. */
export const PALETTES = { dark: DARK_PALETTE, light: LIGHT_PALETTE } as const;

const prefersDark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

export const currentPalette = (): Palette => (prefersDark().matches ? DARK_PALETTE : LIGHT_PALETTE);

export function onPaletteChange(listener: () => void): void {
  prefersDark().addEventListener("change", listener);
}
