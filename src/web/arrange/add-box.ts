/**
 * Adds group boxes. Every way to add one ends here, around devices, drawn on the map or put into the middle of it: it has
 * the title that the user typed, is checked, and is one step of undo.
 */
import type { GroupBox } from "../../model/map-view.ts";
import type { Store } from "../data/page-store.ts";
import type { Bounds } from "../map/bounds.ts";
import { addGroup, placeAt } from "./arrangement.ts";
import type { Arranging } from "./arranging.ts";
import { checkArrangement } from "./checked-view.ts";

const DEFAULT_NAME = "Group";
/** The share of what is seen, to each side, that a box in its middle takes. */
const MIDDLE_SHARE = 0.5;

/** Returns why the box is not possible, or nothing. */
export function addBox(arranging: Arranging, content: Omit<GroupBox, "name">): string {
  const { title } = arranging.boxes;
  const name = title.peek().trim() || (content.annotation ?? DEFAULT_NAME);
  const checked = checkArrangement(addGroup(arranging.shown.peek(), { name, ...content }));
  if (!checked.ok) return checked.message;
  arranging.change(checked.value);
  title.value = "";
  return "";
}

/** Also shows its fields, and ends the drawing. */
export function addBoxAt({ arranging, notify }: Store, bounds: Bounds, takesFocus = false): void {
  const { boxes, shown } = arranging;
  const index = shown.peek().groups?.length ?? 0;
  const fault = addBox(arranging, placeAt(bounds));
  boxes.isDrawing.value = false;
  if (fault === "") boxes.edited.value = { index, takesFocus };
  else notify(`The box is not possible: ${fault}`);
}

/** Without a pointer: the fields of the box have the focus, and move it to its place. */
export function addBoxInMiddle(store: Store, { left, right, bottom, top }: Bounds): void {
  const [x, y] = [(left + right) / 2, (bottom + top) / 2];
  const [dx, dy] = [((right - left) / 2) * MIDDLE_SHARE, ((top - bottom) / 2) * MIDDLE_SHARE];
  addBoxAt(store, { left: x - dx, right: x + dx, bottom: y - dy, top: y + dy }, true);
}
