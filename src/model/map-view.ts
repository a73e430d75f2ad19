/**
 * A saved view of the map: the state of the page, and where it puts devices, boxes and a background. The page prints this
 * format for the section `views` of the configuration, and the configuration is checked against it, so both use this file.
 * Positions are in map units: x to the right, y downwards, a device box about one unit of the layout wide.
 */
import Type from "typebox";

const MAX_COORDINATE = 1_000_000;
const coordinate = (description: string) =>
  Type.Number({ minimum: -MAX_COORDINATE, maximum: MAX_COORDINATE, description });
const extent = (description: string) => Type.Number({ minimum: 1, maximum: MAX_COORDINATE, description });
const strict = { additionalProperties: false } as const;

/** A name that people read and choose from: no control characters and no marks that reorder text. */
export const ShownName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]+$",
  title: "a name of at most 100 characters in one line",
});

const Pin = Type.Object(
  {
    device: Type.String({ minLength: 1, maxLength: 1024, title: "the id of a device" }),
    x: coordinate("Of its centre."),
    y: coordinate("Of its centre."),
  },
  { ...strict, $id: "MapPin", description: "A device that stays where it was put." },
);
export type Pin = Type.Static<typeof Pin>;

/** Either of the two says what is in it; a box with neither stands where its place says. */
const GroupBox = Type.Object(
  {
    name: ShownName,
    annotation: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        title: "the name of an annotation, such as site",
        description: "One box for each value of this annotation; `name` is that of the set of boxes.",
      }),
    ),
    devices: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024, title: "the id of a device" }), {
        maxItems: 10_000,
        description: "A box around these devices.",
      }),
    ),
    x: Type.Optional(coordinate("Of the left edge, for a box drawn by hand.")),
    y: Type.Optional(coordinate("Of the upper edge.")),
    width: Type.Optional(extent("Of the box.")),
    height: Type.Optional(extent("Of the box.")),
  },
  { ...strict, $id: "MapGroup", description: "A box with a name behind devices." },
);
export type GroupBox = Type.Static<typeof GroupBox>;

const Background = Type.Object(
  {
    picture: Type.Optional(
      Type.String({
        maxLength: 512 * 1024,
        pattern: "^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$",
        title: "a data: address of a PNG, JPEG or WebP picture, at most 512 kB",
        description: "A picture; the page may load pictures from no other address.",
      }),
    ),
    x: Type.Optional(coordinate("Of the left edge of the picture.")),
    y: Type.Optional(coordinate("Of its upper edge.")),
    width: Type.Optional(extent("Of the picture.")),
    height: Type.Optional(extent("Of the picture.")),
    coastline: Type.Optional(
      Type.Boolean({
        description: "Coasts, bent to where the map has the sites whose devices have latitude and longitude.",
      }),
    ),
  },
  { ...strict, $id: "MapBackground", description: "What is drawn below everything." },
);
export type Background = Type.Static<typeof Background>;

export const Arrangement = Type.Object(
  {
    pins: Type.Optional(Type.Array(Pin, { maxItems: 10_000 })),
    groups: Type.Optional(Type.Array(GroupBox, { maxItems: 500 })),
    background: Type.Optional(Background),
  },
  { ...strict, $id: "MapArrangement", description: "Where the view puts devices, boxes and a background." },
);
export type Arrangement = Type.Static<typeof Arrangement>;

export const MapView = Type.Object(
  {
    name: ShownName,
    state: Type.String({
      maxLength: 8192,
      pattern: "^\\??([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$",
      title: "the query string of the page's address, such as view=devices&filter=type%3DROUTER",
      description: "The query string of the address of the page; empty is the whole map.",
    }),
    arrangement: Type.Optional(Arrangement),
  },
  { ...strict, $id: "MapView", description: "A saved view of the map." },
);
export type MapView = Type.Static<typeof MapView>;

/** What the schema cannot say. The path is that within the view. */
export function findViewFaults({ arrangement }: MapView): { path: (string | number)[]; message: string }[] {
  const faults: { path: (string | number)[]; message: string }[] = [];
  const pinned = new Set<string>();
  for (const [index, { device }] of (arrangement?.pins ?? []).entries()) {
    if (pinned.has(device))
      faults.push({ path: ["arrangement", "pins", index, "device"], message: `${device} is pinned twice` });
    pinned.add(device);
  }
  for (const [index, group] of (arrangement?.groups ?? []).entries()) {
    const ways = [group.annotation, group.devices, group.x].filter((way) => way !== undefined).length;
    const message =
      ways !== 1
        ? "must have one of annotation, devices, or x with y, width and height"
        : group.x !== undefined && !placeOf(group)
          ? "needs y, width and height with x"
          : undefined;
    if (message !== undefined) faults.push({ path: ["arrangement", "groups", index], message });
  }
  const background = arrangement?.background;
  if (background?.picture !== undefined && !placeOf(background))
    faults.push({
      path: ["arrangement", "background"],
      message: "needs x, y, width and height for its picture",
    });
  return faults;
}

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Undefined when one of the four is missing. */
export function placeOf({ x, y, width, height }: Partial<Place>): Place | undefined {
  if (x === undefined || y === undefined || width === undefined || height === undefined) return undefined;
  return { x, y, width, height };
}
