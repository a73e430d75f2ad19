/** Copies text to the clipboard and reports that in a notice. */
import type { Store } from "../data/page-store.ts";

export async function copyText(store: Store, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    store.notify(`Copied ${what}`);
  } catch {
    // There is no clipboard without a secure origin; the user can still copy the text from the notice.
    store.notify(text);
  }
}
