/**
 * Texts that the page keeps in the browser. Without storage, as in a private window of some browsers, and when it is
 * full, the page works the same until it is closed.
 */
export function loadText(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** An empty text removes the entry. Returns false when the browser does not keep the text. */
export function saveText(key: string, text: string): boolean {
  try {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
