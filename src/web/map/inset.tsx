/**
 * What is shown while not the whole network is in view: an inset with the place of the view in the network, and the way back
 * from a view without any device. The keys of the map do the same, so the inset is not for screen readers.
 */
import type { ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Button } from "../elements/controls.tsx";
import type { Bounds, MapPoint } from "./geometry.ts";
import type { MapOverview } from "./overview.ts";

interface InsetProps {
  /** Undefined while all drawn devices are in view. */
  readonly overview: ReadonlySignal<MapOverview | undefined>;
  readonly onMove: (centre: MapPoint) => void;
  readonly onShowAll: () => void;
}

export function Inset({ overview, onMove, onShowAll }: InsetProps) {
  const areas = overview.value?.areas;
  // Rendered again only with another list, because the view changes in every frame.
  const content = useMemo(
    () => areas?.map((area, i) => <Area key={i} {...area} name={area.tone} />),
    [areas],
  );
  if (!overview.value) return null;
  const { whole, view, isEmpty } = overview.value;
  const move = (event: PointerEvent) => {
    const svg = event.currentTarget;
    if (event.buttons !== 1 || !(svg instanceof SVGSVGElement)) return;
    const matrix = svg.getScreenCTM()?.inverse();
    const point = matrix && new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    if (point) onMove({ x: point.x, y: -point.y });
  };
  const { left, top } = whole;
  const size = `${left} ${-top} ${whole.right - left} ${top - whole.bottom}`;
  return (
    <>
      <svg
        class="inset"
        viewBox={size}
        aria-hidden="true"
        data-covers-map="part"
        onPointerDown={move}
        onPointerMove={move}
      >
        {content}
        <Area {...view} name="inset-view" />
      </svg>
      {isEmpty && (
        <p class="way-back" role="status">
          No device is in view.
          <Button label="Back to the network" onClick={onShowAll} />
        </p>
      )}
    </>
  );
}

const Area = ({ left, right, bottom, top, name }: Bounds & { readonly name: string }) => (
  <rect class={name} x={left} y={-top} width={Math.max(0, right - left)} height={Math.max(0, top - bottom)} />
);
