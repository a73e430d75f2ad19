/** The colours of the map, for dark and for light. Text and signs have at least 4.5:1 on their ground, lines 3:1. */
export interface Palette {
  readonly ground: string;
  readonly plate: string;
  readonly plateEdge: string;
  readonly plateText: string;
  readonly text: string;
  readonly muted: string;
  readonly node: string;
  readonly nodeFill: string;
  readonly host: string;
  readonly line: string;
  readonly down: string;
  readonly downFill: string;
  readonly doubt: string;
  readonly doubtFill: string;
  readonly accent: string;
  readonly added: string;
  readonly addedFill: string;
  readonly faded: string;
  readonly fadedFill: string;
}

export const DARK: Palette = {
  ground: "#0e1319",
  plate: "#141b23",
  plateEdge: "#222c38",
  plateText: "#8494a7",
  text: "#d5dde7",
  muted: "#8b99aa",
  node: "#8fb4da",
  nodeFill: "#1d2f43",
  host: "#7f8fa3",
  line: "#51647a",
  down: "#ff7b72",
  downFill: "#2a1517",
  doubt: "#e3b341",
  doubtFill: "#2c2410",
  accent: "#58c4dc",
  added: "#56d364",
  addedFill: "#12261a",
  faded: "#29333f",
  fadedFill: "#12181f",
};

export const LIGHT: Palette = {
  ground: "#f4f6f8",
  plate: "#ffffff",
  plateEdge: "#dce3ea",
  plateText: "#5b6b7c",
  text: "#1b2733",
  muted: "#566574",
  node: "#2f6397",
  nodeFill: "#dcebf8",
  host: "#66788a",
  line: "#8597a8",
  down: "#c0271d",
  downFill: "#fdecea",
  doubt: "#8f5b00",
  doubtFill: "#fff4d6",
  accent: "#007a99",
  added: "#1a7f37",
  addedFill: "#e3f6e8",
  faded: "#ccd5dd",
  fadedFill: "#f0f3f6",
};

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

export const currentPalette = (): Palette => (prefersDark.matches ? DARK : LIGHT);

export function onPaletteChange(listener: () => void): void {
  prefersDark.addEventListener("change", listener);
}
