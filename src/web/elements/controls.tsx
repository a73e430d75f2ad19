/** The controls that all parts of the page share: buttons, fields, links, popovers, the focus of the panel, the clipboard. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, HTMLAttributes, TargetedEvent } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { type PageStore, useStore } from "../data/page-store.ts";
import { formatState, type ViewState } from "../data/view-state.ts";

type CommonProps<E extends EventTarget> = Omit<HTMLAttributes<E>, "role">;

interface ButtonProps extends CommonProps<HTMLButtonElement> {
  /** The text of the button; with an icon or other content, its accessible name. */
  readonly label?: string;
  readonly icon?: IconName;
  /** A short text beside the icon, which the page shows where there is room. */
  readonly text?: string;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
}

export function Button({ label, icon, text, pressed, children, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      class={icon ? "icon-button" : "text-button"}
      aria-label={icon || children ? label : undefined}
      title={icon && label}
      aria-pressed={pressed}
      {...props}
    >
      {icon ? <Icon name={icon} /> : (children ?? label)}
      {text && <span class="button-text">{text}</span>}
    </button>
  );
}

interface SelectProps<T> extends CommonProps<HTMLSelectElement> {
  readonly value: T;
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly onChoose: (value: T) => void;
}

export function Select<T extends string | number>({ value, options, onChoose, ...props }: SelectProps<T>) {
  const choose = (text: string) => {
    const option = options.find(([value]) => String(value) === text);
    if (option) onChoose(option[0]);
  };
  return (
    <select {...props} value={String(value)} onChange={(event) => choose(event.currentTarget.value)}>
      {options.map(([value, text]) => (
        <option key={value} value={String(value)}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface TextFieldProps extends CommonProps<HTMLInputElement> {
  readonly label: string;
  readonly value: string;
  /** The reason why the text is refused; may be empty. */
  readonly fault: string;
}

export function TextField({ label, fault, ...props }: TextFieldProps) {
  const id = useId();
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        maxLength={100}
        autocomplete="off"
        aria-invalid={fault !== ""}
        aria-describedby={`${id}-fault`}
        {...props}
      />
      <p id={`${id}-fault`} class="error-text" role="alert" hidden={fault === ""}>
        {fault}
      </p>
    </>
  );
}

/** The handler of a form that stays on the page. */
export const submits = (run: () => void) => (event: Event) => {
  event.preventDefault();
  run();
};

interface StateLinkProps extends CommonProps<HTMLAnchorElement> {
  /** The change of the state that the link leads to. */
  readonly to: Partial<ViewState>;
  /** Called on a click instead of following the address. */
  readonly onFollow: () => void;
}

/** A link to another state of the page. It has an address, so that the state can be opened in another window. */
export function StateLink({ to, onFollow, ...props }: StateLinkProps) {
  const { state } = useStore();
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onFollow();
  };
  return <a {...props} href={formatState({ ...state.value, ...to })} onClick={onClick} />;
}

interface LazyDetailsProps {
  readonly class: string;
  readonly summary: string;
  readonly children: () => ComponentChildren;
}

/** Details whose content exists only while they are open. */
export function LazyDetails({ class: name, summary, children }: LazyDetailsProps) {
  const isOpen = useSignal(false);
  const onToggle = (event: TargetedEvent<HTMLDetailsElement>) => {
    isOpen.value = event.currentTarget.open;
  };
  return (
    <details class={name} onToggle={onToggle}>
      <summary>{summary}</summary>
      {isOpen.value && children()}
    </details>
  );
}

/** The icons of the page: paths on a grid of 16 in the colour of the text around them. */
const PATHS = {
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14",
  close: "M4 4l8 8M12 4l-8 8",
  filter: "M2 4h12M4.5 8h7M6.5 12h3",
  fit: "M2 6V2h4M14 6V2h-4M2 10v4h4M14 10v4h-4",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  list: "M3 4h10M3 8h10M3 12h6",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  download: "M8 2v8m-3-3 3 3 3-3M3 13h10",
  drift: "M2 5h12M2 11h12M11 2 5 14",
  conflict: "M8 2 15 14H1ZM8 7v3M8 12v.01",
  gauge: "M2 12a6 6 0 1 1 12 0M8 12l3-4",
  path: "M3.5 5a1.5 1.5 0 1 0-.01 0ZM12.5 14a1.5 1.5 0 1 0-.01 0ZM5 3.5h4a2.5 2.5 0 0 1 0 5H7a2 2 0 0 0 0 4h4",
  play: "M4 2.5v11l9-5.5Z",
  pause: "M5 3v10M11 3v10",
  previous: "M12 3 6 8l6 5ZM4 3v10",
  next: "M4 3l6 5-6 5ZM12 3v10",
  wall: "M1.5 3h13v8h-13zM8 11v2.5M5 13.5h6",
  pin: "M6 2h4l-.6 4.2L12 9H4l2.6-2.8ZM8 9v5",
  bookmark: "M4 2h8v12l-4-3.4L4 14Z",
  edit: "M3 13l.8-3.2L10.5 3 13 5.5l-6.8 6.7ZM9 4.5 11.5 7",
  legend: "M3 4h2M8 4h5M3 8h2M8 8h5M3 12h2M8 12h5",
  book: "M8 4C6.5 2.8 4.5 2.5 2 2.5v10c2.5 0 4.5.3 6 1.5 1.5-1.2 3.5-1.5 6-1.5v-10c-2.5 0-4.5.3-6 1.5ZM8 4v10",
  help: "M8 1.5a6.5 6.5 0 1 0 .01 0ZM6 6.2a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1V10M8 12v.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" width={16} height={16} class="icon" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface PopoverProps {
  /** The name of the box and the tooltip of the button. */
  readonly label: string;
  /** The content of the button. */
  readonly face: ComponentChildren;
  /** A short text after `face`, which the page shows where there is room. */
  readonly text?: string;
  /** The accessible name of the button. Undefined when `face` is text, which is then the name. */
  readonly buttonLabel?: string | undefined;
  /** A number at the corner of the button. */
  readonly count?: number;
  readonly class?: string;
  readonly level?: string;
  readonly hidden?: boolean;
  readonly children: (close: () => void) => ComponentChildren;
}

/**
 * A button that opens a box below it. Escape closes the box and returns the focus to the button; a press of the pointer
 * outside closes it too. The content exists only while the box is open.
 */
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
        {props.text && <span class="button-text">{props.text}</span>}
      </button>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups form controls, and this box also holds text */}
      <div class="popover" id={id} role="group" aria-label={props.label} hidden={!open.value}>
        {open.value && props.children(close)}
      </div>
    </div>
  );
}

/** The id of the panel. Enter moves the focus from the map or table into it, Escape closes it and moves the focus back. */
export const PANEL_ID = "panel";

export function focusPanel(): void {
  document.getElementById(PANEL_ID)?.focus();
}

/** Moves the focus to the map, or to the active row of the table that is shown in its place, or around a table without rows. */
export function focusContent(): void {
  const contents = document.querySelectorAll<HTMLElement>('.map-focus, .grid [role="row"][tabindex="0"]');
  const content = [...contents].find((element) => element.checkVisibility());
  (content ?? document.getElementById("main"))?.focus();
}

/** Closes the part of the panel that has the focus, or else its first part. The focus returns to the map or table. */
export function closeOnEscape(event: KeyboardEvent): void {
  const panel = event.currentTarget;
  if (event.key !== "Escape" || event.defaultPrevented || !(panel instanceof HTMLElement)) return;
  const focused = event.target instanceof Node ? event.target : panel;
  const heads = [...panel.querySelectorAll(".panel-head")];
  // The last heading before the focused element, in document order.
  const head = heads.findLast(
    (each) =>
      each.contains(focused) || each.compareDocumentPosition(focused) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const close = [...((head ?? heads[0])?.querySelectorAll("button") ?? [])].at(-1);
  if (!close) return;
  event.preventDefault();
  close.click();
  focusContent();
}

/** Copies text to the clipboard and reports that in a notice. */
export async function copyText(store: PageStore, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    store.notify(`Copied ${what}`);
  } catch {
    // There is no clipboard without a secure origin; the user can still copy the text from the notice.
    store.notify(text);
  }
}
