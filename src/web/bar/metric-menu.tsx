/** The menu that chooses the metric on links, the scale of its values, and the note that says why there are none. */

import { type OverlayResult, overlaySteps } from "../data/link-overlay.ts";
import { useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import { Icon, Popover } from "../elements/controls.tsx";
import { formatFullTime } from "../elements/format-time.ts";
import { PALETTES, type Palette } from "../map/palette.ts";

export function MetricMenu() {
  const { state, settings } = useStore();
  const { metric, view } = state.value;
  const metrics = settings.value?.metrics ?? [];
  return (
    <Popover
      label="Metric on links"
      buttonLabel={metric === undefined ? "Metric on links" : `Metric on links: ${metric}`}
      face={<Icon name="gauge" />}
      text="Metric"
      count={metric === undefined ? 0 : 1}
      hidden={view !== "map" || metrics.length === 0}
    >
      {() => (
        <>
          <fieldset>
            <legend>Metric on links</legend>
            <Choice name={undefined} />
            {metrics.map(({ name }) => (
              <Choice key={name} name={name} />
            ))}
          </fieldset>
          <ResultNote />
        </>
      )}
    </Popover>
  );
}

function Choice({ name }: { readonly name: string | undefined }) {
  const { state, go } = useStore();
  return (
    <label class="check">
      <input
        type="radio"
        name="metric"
        checked={state.value.metric === name}
        onChange={() => go({ metric: name })}
      />
      <span>{name ?? "None"}</span>
    </label>
  );
}

function ResultNote() {
  const { state, overlayResult, overlay } = useStore();
  const result = overlayResult.value;
  if (state.value.metric === undefined) return null;
  if (result?.ok && !overlay.value)
    return <p class="muted">Values are of now, and the map shows another time.</p>;
  return <p class={result?.ok === false ? "error-text" : "muted"}>{describeResult(result)}</p>;
}

function describeResult(result: OverlayResult | undefined): string {
  if (!result) return "Loading…";
  if (!result.ok) return result.reason;
  const { overlay, facts } = result;
  const known = `${formatCount(overlay.values.size, "link")} with a value, ${formatFullTime(facts.time)}.`;
  if (facts.unknownSeries === 0) return known;
  const series = formatCount(facts.unknownSeries, "time series", "time series");
  return `${known} ${series} of devices that are not in the network, such as ${facts.unknownDevices.join(", ")}.`;
}

/** The scale of the values on links: the colours, by default those of the theme, and the smallest value of each. */
export function MetricScale({ palette }: { readonly palette?: Palette }) {
  const { overlay } = useStore();
  if (!overlay.value) return null;
  return (
    <ul class="metric-scale" aria-label={`Colours of ${overlay.value.name}`}>
      {overlaySteps(overlay.value).map(({ step, from }) => (
        <li key={step}>
          <svg viewBox="0 0 16 4" width={16} height={6} preserveAspectRatio="none" aria-hidden="true">
            <rect
              width={16}
              height={4}
              style={{
                fill: palette?.[step] ?? `light-dark(${PALETTES.light[step]}, ${PALETTES.dark[step]})`,
              }}
            />
          </svg>
          <span class="only-read">from </span>
          {from}
        </li>
      ))}
    </ul>
  );
}

/** A note beside the chips, so that a map without values is not taken for a network without traffic. */
export function MetricNote() {
  const { state, overlayResult } = useStore();
  const { metric, view } = state.value;
  const result = overlayResult.value;
  if (metric === undefined || view !== "map" || !result) return null;
  if (!result.ok) return <Note metric={metric} text={result.reason} />;
  return result.overlay.values.size === 0 ? <Note metric={metric} text={describeResult(result)} /> : null;
}

function Note({ metric, text }: { readonly metric: string; readonly text: string }) {
  return (
    <p class="chip fault-note metric-note" role="alert">
      {`${metric} is not shown. ${text}`}
    </p>
  );
}
