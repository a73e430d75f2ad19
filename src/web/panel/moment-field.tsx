/** A field for a moment: a time or a revision, typed. What is no moment is refused with an example of one. */
import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { parseTypedMoment } from "../data/typed-moment.ts";
import { isRevision } from "../data/view-state.ts";
import { formatTyped } from "../elements/format-time.ts";

interface MomentFieldProps {
  readonly label: string;
  /** As in the address; undefined is now. */
  readonly moment: string | undefined;
  readonly isNowAllowed?: boolean;
  readonly onChange: (moment: string | undefined) => void;
}

export function MomentField({ label, moment, isNowAllowed = false, onChange }: MomentFieldProps) {
  const id = useId();
  const fault = useSignal<string | undefined>(undefined);
  /** Kept here until it is applied: a rendering in between must not replace what is typed. */
  const typed = useSignal<string | undefined>(undefined);
  useEffect(() => {
    typed.value = undefined;
    fault.value = undefined;
  }, [moment]);
  const apply = () => {
    if (typed.value === undefined) return;
    const parsed = parseTypedMoment(typed.value);
    if (!parsed.ok) fault.value = parsed.fault;
    else if (parsed.at === undefined && !isNowAllowed)
      fault.value = "Now can only be compared with an earlier moment: write it in the other field.";
    else {
      fault.value = undefined;
      typed.value = undefined;
      onChange(parsed.at);
    }
  };
  return (
    <div class="moment-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={typed.value ?? typedText(moment)}
        title="A time, a day and a time, or a revision"
        aria-invalid={fault.value !== undefined}
        aria-describedby={fault.value === undefined ? undefined : `${id}-fault`}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => event.key === "Enter" && apply()}
        onBlur={apply}
      />
      {fault.value !== undefined && (
        <p id={`${id}-fault`} class="error-text" role="alert">
          {fault.value}
        </p>
      )}
    </div>
  );
}

function typedText(moment: string | undefined): string {
  if (moment === undefined) return "now";
  return isRevision(moment) ? moment : formatTyped(Date.parse(moment));
}
