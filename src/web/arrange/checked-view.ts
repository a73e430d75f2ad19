/**
 * Checks arrangements and views that come from outside the page, from the browser's storage or from a link, against the
 * format of the configuration. What is damaged or hostile is a fault in words, never a view.
 */
import Value from "typebox/value";
import { dropIgnoredKeys } from "../../lib/gone-keys.ts";
import { findSchemaFaults, formatPath } from "../../lib/schema-faults.ts";
import { type Arrangement, findViewFaults, GONE_VIEW_KEYS, MapView } from "../../model/map-view.ts";

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

export function checkView(stored: unknown): Checked<MapView> {
  const { value } = dropIgnoredKeys(stored, GONE_VIEW_KEYS, ["views"]);
  if (!Value.Check(MapView, value)) return fail(findSchemaFaults(MapView, value)[0]);
  const [fault] = findViewFaults(value);
  return fault ? fail(fault) : { ok: true, value };
}

export function checkArrangement(arrangement: unknown): Checked<Arrangement> {
  const checked = checkView({ name: "own", state: "", arrangement });
  return checked.ok ? { ok: true, value: checked.value.arrangement ?? {} } : checked;
}

interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const fail = (fault: Fault | undefined): Checked<never> => ({
  ok: false,
  message: fault ? `${formatPath(fault.path)} ${fault.message}`.trim() : "not a view",
});
