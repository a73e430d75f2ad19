/** The place and the size of a rectangle of the arrangement as numbers, in map units: the way to move it without a pointer. */
import type { Place } from "../../model/map-view.ts";

/** That of the format. */
const LIMIT = 1_000_000;
const STEP = 10;

interface PlaceFieldsProps {
  /** The accessible name. */
  readonly label: string;
  readonly place: Place;
  /** The height follows the width, as that of a picture. */
  readonly keepsShape?: boolean;
  /** Changes of the same field in a row have the same `step`. */
  readonly set: (next: Place, step: string) => void;
}

export function PlaceFields({ label, place, keepsShape = false, set }: PlaceFieldsProps) {
  const { x, y, width, height } = place;
  const field = (name: string, value: number, min: number, next: (value: number) => Partial<Place>) => (
    <label key={name}>
      {name}
      <input
        type="number"
        step={STEP}
        min={min}
        max={LIMIT}
        value={value}
        onChange={({ currentTarget: { value: text } }) => {
          const number = Number(text);
          if (text !== "" && number >= min && number <= LIMIT) set({ ...place, ...next(number) }, name);
        }}
      />
    </label>
  );
  return (
    <fieldset class="fields" aria-label={label}>
      {field("Left", x, -LIMIT, (value) => ({ x: value }))}
      {field("Top", y, -LIMIT, (value) => ({ y: value }))}
      {field("Width", width, 1, (value) => ({
        width: value,
        ...(keepsShape && { height: Math.min(LIMIT, Math.max(1, Math.round((height * value) / width))) }),
      }))}
      {!keepsShape && field("Height", height, 1, (value) => ({ height: value }))}
    </fieldset>
  );
}
