/** A button. Its label is the visible text or, with an icon, the accessible name and the tooltip. */
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly class?: string;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

export function Button({ label, icon, pressed, disabled = false, onClick, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      class={props.class ?? (icon ? "icon-button" : "text-button")}
      aria-label={icon && label}
      title={icon && label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      {icon ? <Icon name={icon} /> : label}
    </button>
  );
}
