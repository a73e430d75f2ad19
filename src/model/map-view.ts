/**
 * A saved view of the map: the state of the page, and the places of devices and boxes. The page prints this format for the
 * section `views` of the configuration, and the configuration is checked against it, so both use this file. Positions are
 * in map units: x to the right, y downwards; a device box is about one unit of the layout wide.
 */
import Type from "typebox";
import type { GoneKey } from "../lib/gone-keys.ts";

const MAX_COORDINATE = 1_000_000;
const coordinate = (description: string) =>
  Type.Number({ minimum: -MAX_COORDINATE, maximum: MAX_COORDINATE, description });
const strict = { additionalProperties: false } as const;

/** A name that people read and choose from. It has no control characters and no marks that reorder text. */
export const ShownName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]+$",
  title: "a name of at most 100 characters in one line",
});

const Pin = Type.Object(
  {
    device: Type.String({ minLength: 1, maxLength: 1024, title: "the id of a device" }),
    x: coordinate("The x coordinate of the centre of the device."),
    y: coordinate("The y coordinate of the centre of the device."),
  },
  { ...strict, $id: "MapPin", description: "A device with a fixed position." },
);
export type Pin = Type.Static<typeof Pin>;

/** A box has exactly one of `annotation` and `devices`, which select the devices in it. */
const GroupBox = Type.Object(
  {
    name: ShownName,
    annotation: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        title: "the name of an annotation, such as site",
        description:
          "The annotation for each value of which there is one box; `name` is the name of the set of boxes.",
      }),
    ),
    devices: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024, title: "the id of a device" }), {
        maxItems: 10_000,
        description: "The ids of the devices in the box.",
      }),
    ),
  },
  { ...strict, $id: "MapGroup", description: "A box with a name that is drawn behind devices." },
);
export type GroupBox = Type.Static<typeof GroupBox>;

export const Arrangement = Type.Object(
  {
    pins: Type.Optional(Type.Array(Pin, { maxItems: 10_000 })),
    groups: Type.Optional(Type.Array(GroupBox, { maxItems: 500 })),
  },
  { ...strict, $id: "MapArrangement", description: "The positions of devices and the boxes of the view." },
);
export type Arrangement = Type.Static<typeof Arrangement>;

export const MapView = Type.Object(
  {
    name: ShownName,
    state: Type.String({
      maxLength: 8192,
      pattern: "^\\??([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$",
      title: "the query string of the page's address, such as view=devices&filter=type%3DROUTER",
      description: "The query string of the address of the page. An empty text shows the whole map.",
    }),
    arrangement: Type.Optional(Arrangement),
  },
  { ...strict, $id: "MapView", description: "A saved view of the map." },
);
export type MapView = Type.Static<typeof MapView>;

/** Finds the faults that the schema cannot express. Each path is relative to the view. */
export function findViewFaults({ arrangement }: MapView): { path: (string | number)[]; message: string }[] {
  const faults: { path: (string | number)[]; message: string }[] = [];
  const pinned = new Set<string>();
  for (const [index, { device }] of (arrangement?.pins ?? []).entries()) {
    if (pinned.has(device))
      faults.push({ path: ["arrangement", "pins", index, "device"], message: `${device} is pinned twice` });
    pinned.add(device);
  }
  for (const [index, group] of (arrangement?.groups ?? []).entries()) {
    if ((group.annotation === undefined) === (group.devices === undefined))
      faults.push({
        path: ["arrangement", "groups", index],
        message: "must have one of annotation, devices",
      });
  }
  return faults;
}

/** Keys that earlier versions could draw. Configured and stored views that have them are shown without them. */
export const GONE_VIEW_KEYS: readonly GoneKey[] = [
  {
    key: "views.arrangement.background",
    advice: "remove it: the map draws no picture and no coastline",
    ignored: "key",
  },
  {
    key: "views.arrangement.groups.x",
    advice: "remove the box, or give it an annotation or devices instead of a place",
    ignored: "entry",
  },
];
