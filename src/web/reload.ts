/**
 * When the page loads something again: some time after the network changed, and after a failure that may be over.
 */
import { throttle } from "./throttle.ts";

/**
 * Returns a function that loads again, `ms` after the first of any number of calls. It waits for a load that is under way:
 * a load that takes longer than the network needs to change again would never end if it were started anew each time.
 */
export function reloadLater(ms: number, isLoading: () => boolean, load: () => void): () => void {
  const reload = throttle(ms, () => {
    if (isLoading()) reload();
    else load();
  });
  return reload;
}
