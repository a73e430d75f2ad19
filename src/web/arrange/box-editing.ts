/**
 * What the user is doing with group boxes: the title of the next one, whether a drag draws it, and which one has its fields
 * open. None of it is a part of the arrangement. It ends with the arranging, and with the arrangement that is shown.
 */
import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";

export interface EditedBox {
  /** Its place in the list: a change replaces the box itself. */
  readonly index: number;
  /** Whether the fields take the focus when they are shown. */
  readonly takesFocus: boolean;
}

export interface BoxEditing {
  readonly title: Signal<string>;
  readonly isDrawing: Signal<boolean>;
  readonly edited: Signal<EditedBox | undefined>;
}

export function createBoxEditing(
  isArranging: ReadonlySignal<boolean>,
  arrangementKey: ReadonlySignal<string>,
): BoxEditing {
  const isDrawing = signal(false);
  const edited = signal<EditedBox | undefined>(undefined);
  effect(() => {
    if (!isArranging.value) isDrawing.value = false;
  });
  effect(() => {
    arrangementKey.value;
    edited.value = undefined;
  });
  return { title: signal(""), isDrawing, edited };
}
