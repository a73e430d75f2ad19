/** A device in the picture: a card with its name, what it is and how many hosts it has; its state by colour, frame and mark. */
import { type Device, hasConflict } from "../model/entity.ts";
import { deviceName } from "./graph.ts";
import { pictureLabel, textWidth } from "./label.ts";
import type { Point, Spacing } from "./layout/adjacency.ts";
import { counted, DEVICE_LOOKS, type DeviceState, deviceState, INK, MUTED, place, round } from "./drawing-style.ts";
import { xmlText } from "./xml.ts";

const HEIGHT = 38;
const PADDING = 9;
const NAME_PX = 12;
const SMALL_PX = 9.5;
const MAX_EMS = 15;
const LEAST_WIDTH = 92;
const TOOLTIP_EMS = 150;

export interface Card {
  readonly id: string;
  readonly state: DeviceState;
  readonly conflict: boolean;
  readonly name: string;
  readonly detail: string;
  readonly tooltip: string;
}

export function createCard(device: Device, hosts: number): Card {
  const state = deviceState(device);
  const kind = device.type.charAt(0) + device.type.slice(1).toLowerCase().replaceAll("_", " ");
  const detail = hosts > 0 ? `${kind} · ${counted(hosts, "host")}` : kind;
  const address = device.annotations.managementAddress ?? "";
  const facts = [device.id, kind, DEVICE_LOOKS[state].words, address, counted(hosts, "host")];
  if (state !== "conflict" && hasConflict(device)) facts.push(DEVICE_LOOKS.conflict.words);
  const shown = facts.filter((fact) => fact !== "").map((fact) => pictureLabel(fact, TOOLTIP_EMS));
  return {
    id: device.id,
    state,
    conflict: hasConflict(device),
    name: pictureLabel(deviceName(device), MAX_EMS),
    detail: pictureLabel(detail, (MAX_EMS * NAME_PX) / SMALL_PX),
    tooltip: [pictureLabel(deviceName(device), TOOLTIP_EMS), ...shown].join("\n"),
  };
}

/** One size for all cards of a picture: that of the longest label. */
export function cardSize(cards: readonly Card[]): Spacing {
  let width = LEAST_WIDTH;
  for (const { name, detail } of cards) {
    width = Math.max(
      width,
      textWidth(name) * NAME_PX + 2 * PADDING,
      textWidth(detail) * SMALL_PX + 2 * PADDING,
    );
  }
  return { x: Math.ceil(width), y: HEIGHT };
}

export function drawCard(card: Card, at: Point, size: Spacing): string {
  const middle = round(at.x);
  return `<g><title>${xmlText(card.tooltip)}</title>${drawFrame(card.state, card.conflict, at, size)}\
<text x="${middle}" y="${round(at.y - 2)}" font-size="${NAME_PX}" font-weight="600" fill="${INK}">${xmlText(card.name)}</text>\
<text x="${middle}" y="${round(at.y + 12)}" font-size="${SMALL_PX}" fill="${MUTED}">${xmlText(card.detail)}</text></g>\n`;
}

/** Also for the legend. */
export function drawFrame(state: DeviceState, conflict: boolean, at: Point, size: Spacing): string {
  const { stroke, fill } = DEVICE_LOOKS[state];
  const [left, top] = [at.x - size.x / 2, at.y - size.y / 2];
  const down = state === "unavailable";
  const box = (inset: number, paint: string) =>
    `<rect x="${round(left + inset)}" y="${round(top + inset)}" width="${round(size.x - 2 * inset)}" \
height="${round(size.y - 2 * inset)}" rx="${down ? 0 : Math.max(2, 7 - inset)}" ${paint}/>`;
  let frame = box(
    0,
    `fill="${fill}" stroke="${stroke}" stroke-width="1.5"${down ? ' stroke-dasharray="5 3"' : ""}`,
  );
  if (conflict) frame += box(3, `fill="none" stroke="${DEVICE_LOOKS.conflict.stroke}"`);
  const right = left + size.x;
  if (down) frame += cross(right - 2, top + 2);
  if (conflict) frame += warning(down ? left + 2 : right - 2, top + 2);
  return frame;
}

function cross(x: number, y: number): string {
  const arms = `M${place({ x: x - 3, y: y - 3 })}l6 6m0 -6l-6 6`;
  return `<circle cx="${round(x)}" cy="${round(y)}" r="7" fill="${DEVICE_LOOKS.unavailable.stroke}"/>\
<path d="${arms}" stroke="#fff" stroke-width="2" fill="none"/>`;
}

function warning(x: number, y: number): string {
  return `<path d="M${place({ x, y: y - 8 })}l8.5 14.5h-17z" fill="${DEVICE_LOOKS.conflict.stroke}"/>\
<path d="M${place({ x, y: y - 3 })}v4.6m0 1.4v1.6" stroke="#fff" stroke-width="1.7" fill="none"/>`;
}
