/** Buttons. The label is the visible text or, with an icon, the accessible name and the tooltip. */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps {
  readonly class?: string;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

export function TextButton(props: ButtonProps & { readonly children: ComponentChildren }) {
  return (
    <button
      type="button"
      class={props.class ?? "text-button"}
      aria-pressed={props.pressed}
      disabled={props.disabled ?? false}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}

export function IconButton(props: ButtonProps & { readonly label: string; readonly icon: IconName }) {
  return (
    <button
      type="button"
      class={props.class ?? "icon-button"}
      aria-label={props.label}
      title={props.label}
      aria-pressed={props.pressed}
      disabled={props.disabled ?? false}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}
