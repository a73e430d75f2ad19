/**
 * Texts that the page stores in the browser. When there is no storage, as in a private window of some browsers, or when it
 * is full, the page works the same until it is closed.
 */
export function loadText(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores the text; an empty text removes the entry. Returns false when the browser does not store the text. */
export function saveText(key: string, text: string): boolean {
  try {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
