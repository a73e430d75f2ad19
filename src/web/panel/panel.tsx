/**
 * The panel at the right: the selected entity, the path, the comparison and the recent changes. Its scroll position
 * stays while the network changes, and returns to the top when another entity or moment is shown.
 */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useStore } from "../data/page-store.ts";
import { LAYER_TITLES } from "../data/view-state.ts";
import { closeOnEscape, PANEL_ID } from "../elements/controls.tsx";
import { RecentChanges } from "./change-list.tsx";
import { ComparisonPanel } from "./comparison.tsx";
import { Details } from "./details.tsx";
import { LayerList } from "./layer-list.tsx";
import { PanelHeading } from "./parts.tsx";
import { PathSteps } from "./path-steps.tsx";

export function Panel() {
  const { state, network, comparison, go } = useStore();
  const { selected, path, compare, changes, at, around, expanded, layer } = state.value;
  /** Whether the panel is enlarged on a phone, where it is a sheet at the bottom. */
  const isTall = useSignal(false);
  const body = useRef<HTMLDivElement>(null);
  const isComparing = compare !== undefined;
  const shownLayer = isComparing ? undefined : layer;
  const hasContent =
    selected !== undefined || path !== undefined || changes || isComparing || shownLayer !== undefined;
  const open = hasContent && network.value !== undefined;
  const shown = JSON.stringify([selected, path, compare, changes, at, around, expanded]);
  useLayoutEffect(() => {
    if (selected && body.current) body.current.scrollTop = 0;
  }, [shown]);
  return (
    <aside
      class={isTall.value ? "panel tall" : "panel"}
      id={PANEL_ID}
      aria-label="Details"
      tabIndex={-1}
      hidden={!open}
      onKeyDown={closeOnEscape}
    >
      <button
        type="button"
        class="sheet-grip"
        aria-expanded={isTall.value}
        aria-label="Larger details"
        onClick={() => {
          isTall.value = !isTall.value;
        }}
      />
      <div class="panel-body" ref={body}>
        {open && path && (
          <>
            <PanelHeading title="Path" closeLabel="Close path" onClose={() => go({ path: undefined })} />
            <PathSteps ends={path} />
          </>
        )}
        {open && selected && <Details key={`${selected.kind} ${selected.id}`} entityRef={selected} />}
        {open && isComparing && <ComparisonPanel comparison={comparison.value} />}
        {open && shownLayer && (
          <>
            <PanelHeading
              title={LAYER_TITLES[shownLayer]}
              closeLabel={`Close ${LAYER_TITLES[shownLayer].toLowerCase()}`}
              onClose={() => go({ layer: undefined })}
            />
            <LayerList layer={shownLayer} />
          </>
        )}
        {open && changes && (
          <>
            <PanelHeading
              title="Recent changes"
              closeLabel="Close recent changes"
              onClose={() => go({ changes: false })}
            />
            <RecentChanges />
          </>
        )}
      </div>
    </aside>
  );
}
