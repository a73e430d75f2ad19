/**
 * A button that opens a box below it. Escape closes the box and returns the focus to the button; a press of the pointer
 * outside closes it too. The content exists only while the box is open.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface PopoverProps {
  /** The name of the box and the tooltip of the button. */
  readonly label: string;
  /** What the button shows. */
  readonly face: ComponentChildren;
  /** The accessible name of the button. Undefined when `face` is text, which is then the name. */
  readonly buttonLabel?: string | undefined;
  /** A number at the corner of the button. */
  readonly count?: number;
  readonly class?: string;
  readonly level?: string;
  readonly hidden?: boolean;
  readonly children: (close: () => void) => ComponentChildren;
}

export function Popover(props: PopoverProps) {
  const id = useId();
  const open = useSignal(false);
  const anchor = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    open.value = false;
  };
  useLayoutEffect(() => {
    if (!open.value) return;
    const isInside = (event: Event) =>
      event.target instanceof Node && anchor.current?.contains(event.target) === true;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || !isInside(event)) return;
      close();
      button.current?.focus();
    };
    const onPointerDown = (event: Event) => {
      if (!isInside(event)) close();
    };
    document.addEventListener("keydown", onKeyDown);
    document.addEventListener("pointerdown", onPointerDown);
    return () => {
      document.removeEventListener("keydown", onKeyDown);
      document.removeEventListener("pointerdown", onPointerDown);
    };
  }, [open.value]);
  return (
    <div
      class={props.class ?? "popover-anchor"}
      ref={anchor}
      hidden={props.hidden ?? false}
      data-level={props.level}
    >
      <button
        type="button"
        class={props.buttonLabel === undefined ? "text-button" : "icon-button"}
        ref={button}
        aria-label={props.buttonLabel}
        aria-expanded={open.value}
        aria-controls={id}
        title={props.label}
        data-count={props.count || undefined}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {props.face}
      </button>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups form controls, and this box also holds text */}
      <div class="popover" id={id} role="group" aria-label={props.label} hidden={!open.value}>
        {open.value && props.children(close)}
      </div>
    </div>
  );
}
