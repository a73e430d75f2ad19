/** Changes of an arrangement, each a new value. Coordinates are those of the format: y downwards. */
import type { Arrangement, GroupBox } from "../../model/map-view.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

export const pinOf = ({ pins = [] }: Arrangement, device: string): Point | undefined =>
  pins.find((pin) => pin.device === device);

export const pinDevice = (arrangement: Arrangement, device: string, { x, y }: Point): Arrangement => ({
  ...arrangement,
  pins: [...without(arrangement, device), { device, x: rounded(x), y: rounded(y) }],
});

export const unpinDevice = (arrangement: Arrangement, device: string): Arrangement =>
  compact({ ...arrangement, pins: without(arrangement, device) });

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

/** Without lists that are empty, so that an arrangement of nothing has no keys. */
function compact({ pins = [], groups = [], ...rest }: Arrangement): Arrangement {
  return { ...rest, ...(pins.length > 0 && { pins }), ...(groups.length > 0 && { groups }) };
}

const without = ({ pins = [] }: Arrangement, device: string) => pins.filter((pin) => pin.device !== device);

/** More digits are not visible, and are many bytes in a link. */
const rounded = (value: number): number => Math.round(value * 10) / 10;
