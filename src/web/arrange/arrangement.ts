/** Functions that change an arrangement; each returns a new one. Coordinates are those of the format: y points downwards. */

import Value from "typebox/value";
import { dropIgnoredKeys } from "../../lib/gone-keys.ts";
import { findSchemaFaults, formatPath } from "../../lib/schema-faults.ts";
import {
  type Arrangement,
  findViewFaults,
  GONE_VIEW_KEYS,
  type GroupBox,
  MapView,
} from "../../model/map-view.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

export const pinOf = ({ pins = [] }: Arrangement, device: string): Point | undefined =>
  pins.find((pin) => pin.device === device);

/** Pins devices, or moves their pins. */
export const pinDevices = (arrangement: Arrangement, places: ReadonlyMap<string, Point>): Arrangement => ({
  ...arrangement,
  pins: [
    ...without(arrangement, places),
    ...Array.from(places, ([device, { x, y }]) => ({ device, x: rounded(x), y: rounded(y) })),
  ],
});

export const unpinDevices = (arrangement: Arrangement, devices: Iterable<string>): Arrangement =>
  compact({ ...arrangement, pins: without(arrangement, new Set(devices)) });

export const unpinAll = (arrangement: Arrangement): Arrangement => compact({ ...arrangement, pins: [] });

export const addGroup = (arrangement: Arrangement, group: GroupBox): Arrangement => ({
  ...arrangement,
  groups: [...(arrangement.groups ?? []), group],
});

export const replaceGroup = (
  arrangement: Arrangement,
  old: GroupBox,
  next: GroupBox | undefined,
): Arrangement =>
  compact({
    ...arrangement,
    groups: (arrangement.groups ?? []).flatMap((group) => (group === old ? (next ?? []) : group)),
  });

/** Removes empty lists, so that an empty arrangement has no keys. */
function compact({ pins = [], groups = [], ...rest }: Arrangement): Arrangement {
  return { ...rest, ...(pins.length > 0 && { pins }), ...(groups.length > 0 && { groups }) };
}

const without = ({ pins = [] }: Arrangement, devices: { has(device: string): boolean }) =>
  pins.filter(({ device }) => !devices.has(device));

/** Rounds to one decimal: more digits are not visible and make a link longer. */
const rounded = (value: number): number => Math.round(value * 10) / 10;

/**
 * The result of checking an arrangement or a view from outside the page, such as from the browser's storage or a link,
 * against the format of the configuration. Damaged or hostile input yields a message and no value.
 */
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
