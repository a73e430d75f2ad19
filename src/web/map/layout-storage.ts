/** The layout that the browser keeps for the next visit. Storage may be disabled or full: the map works without. */
const STORAGE_KEY = "gazetteer.layout";

export function readLayout(): string | undefined {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeLayout(text: string): void {
  try {
    if (text === "") localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, text);
  } catch {
    // The next visit computes the layout.
  }
}
