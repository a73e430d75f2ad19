/**
 * Short texts that the page keeps in the browser. Without storage, as in a private window of some browsers, and when it is
 * full, the page works the same until it is closed.
 */
export function loadText(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function saveText(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // Kept in memory only.
  }
}
