/** What every read is made from: the current view, its history and its log. All three belong to the same network. */
import type { Log } from "../../log/log.ts";
import type { History } from "../../view/history.ts";
import type { View } from "../../view/view.ts";

export interface ReadContext {
  readonly view: View;
  readonly history: History;
  readonly log: Log;
}
