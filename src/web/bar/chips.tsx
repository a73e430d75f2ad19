/** One chip for each condition that narrows the view, with a button that removes the condition. */
import type { ComponentChildren } from "preact";
import { closeView } from "../arrange/view-actions.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { entityName, formatType } from "../data/shown-names.ts";
import { pathEndName } from "../data/shown-path.ts";
import { LAYER_TITLES, MAX_HOPS, type ViewState } from "../data/view-state.ts";
import { Button } from "../elements/controls.tsx";
import { pathCountText } from "../panel/path-steps.tsx";
import { chosenText } from "../problems/problem-target.ts";
import { stateTitle } from "./filter-menu.tsx";
import { MetricNote, MetricScale } from "./metric-menu.tsx";
import { momentChip, OutOfDateNote } from "./status.tsx";

interface ChipData {
  readonly text: string;
  /** The change of the state that removes the condition. */
  readonly undo: Partial<ViewState>;
  readonly extra?: ComponentChildren;
}

export function Chips() {
  const store = useStore();
  const { state, pathStart, path: loadedPath, problems } = store;
  const network = useNetwork();
  const { types, states, sources, around, path, view, layer, metric, problem } = state.value;
  const chips: ChipData[] = momentChip(store);
  if (view === "map") {
    if (types.length > 0) chips.push({ text: types.map(formatType).join(", "), undo: { types: [] } });
    if (states.length > 0) chips.push({ text: states.map(stateTitle).join(", "), undo: { states: [] } });
    if (sources.length > 0) chips.push({ text: `From ${sources.join(", ")}`, undo: { sources: [] } });
    if (layer !== undefined) chips.push({ text: LAYER_TITLES[layer], undo: { layer: undefined } });
    if (problem !== undefined)
      chips.push({ text: chosenText(problems, network), undo: { problem: undefined } });
    if (metric !== undefined)
      chips.push({ text: `${metric} on links`, undo: { metric: undefined }, extra: <MetricScale /> });
    if (around !== undefined) {
      const { hops } = state.value;
      const name = entityName(network, { kind: "devices", id: around });
      const text = `Within ${hops} ${hops === 1 ? "hop" : "hops"} of ${name}`;
      chips.push({ text, undo: { around: undefined, hops: 1 }, extra: <HopButtons hops={hops} /> });
    }
    if (path) {
      const explained = loadedPath.value?.explanation;
      const [from, to] = [
        pathEndName(network, path[0], explained?.src),
        pathEndName(network, path[1], explained?.dst),
      ];
      const found = explained ? `: ${explained.none ? "no path" : pathCountText(explained)}` : "";
      chips.push({ text: `Path ${from} → ${to}${found}`, undo: { path: undefined } });
    }
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups form controls, and these are not fields of a form
    <div class="chips" role="group" aria-label="What narrows this view" data-covers-map>
      <OutOfDateNote />
      {pathStart.value && <PathStartChip name={entityName(network, pathStart.value)} />}
      <OpenedViewChip />
      {chips.map((chip) => (
        <Chip key={Object.keys(chip.undo)[0]} {...chip} />
      ))}
      <MetricNote />
    </div>
  );
}

function Chip({ text, undo, extra }: ChipData) {
  const { go } = useStore();
  return (
    <span class="chip">
      <span>{text}</span>
      {extra}
      <Button class="chip-x" label={`Undo: ${text}`} icon="close" onClick={() => go(undo)} />
    </span>
  );
}

function PathStartChip({ name }: { readonly name: string }) {
  const { startPath } = useStore();
  return (
    <span class="chip strong">
      {`Path from ${name}: now pick the other end`}
      <Button class="chip-x" label="Cancel" icon="close" onClick={() => startPath(undefined)} />
    </span>
  );
}

function HopButtons({ hops }: { readonly hops: number }) {
  const { go } = useStore();
  const button = (label: string, icon: "plus" | "minus", next: number) => (
    <Button
      class="chip-x"
      label={label}
      icon={icon}
      disabled={next < 1 || next > MAX_HOPS}
      onClick={() => go({ hops: next })}
    />
  );
  return (
    <>
      {button("One hop fewer", "minus", hops - 1)}
      {button("One hop more", "plus", hops + 1)}
    </>
  );
}

const ORIGINS = { browser: "", configuration: ", from the configuration", link: ", from a link" } as const;

/** The chip that names the opened view. Its button returns to the user's own arrangement. */
function OpenedViewChip() {
  const store = useStore();
  const opened = store.arranging.opened.value;
  if (!opened) return null;
  const text = `View: ${opened.view.name}${ORIGINS[opened.origin]}${store.arranging.isDraft.value ? ", changed" : ""}`;
  return (
    <span class="chip">
      <span>{text}</span>
      <Button
        class="chip-x"
        label={`Close the view ${opened.view.name}`}
        icon="close"
        onClick={() => closeView(store)}
      />
    </span>
  );
}
