/**
 * Keys of the configuration that earlier versions had, with advice. `gazetteer check` and `serve` report them at their
 * position in the file. A configuration with such a key is refused, unless the row has `ignored`: then the key is a warning.
 * An option of a source has the kind of the source in its key, such as `sources.openflow.settleMs`.
 */
import type { GoneKey } from "../lib/gone-keys.ts";
import { GONE_VIEW_KEYS } from "../model/map-view.ts";
import { GONE_OPENFLOW_OPTIONS } from "../sources/openflow/options.ts";

/** A row is `{ key: "limits.example", advice: "remove it: …" }`; the advice follows "is gone; ". */
export const GONE_KEYS: readonly GoneKey[] = [
  { key: "limits.urlBytes", advice: "remove it: a request target may have 8192 bytes" },
  { key: "logLevel", advice: "remove it: each line has its level, for what reads the log", ignored: "key" },
  ...GONE_VIEW_KEYS,
  ...GONE_OPENFLOW_OPTIONS,
];
