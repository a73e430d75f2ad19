/** The bar at the top: search, the tabs of the views, and the buttons that open lists and menus. */
import type { RefObject } from "preact";
import { ViewsMenu } from "../arrange/views-menu.tsx";
import { useNetwork, useStore } from "../data/page-store.ts";
import { VIEW_TITLES, VIEWS, type ViewName, type ViewState } from "../data/view-state.ts";
import { Button, StateLink } from "../elements/controls.tsx";
import type { NetworkMap } from "../map/map.ts";
import { isRead } from "../problems/problem-store.ts";
import { ProblemSign, SEVERITY_SIGNS } from "../problems/signs.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { FilterMenu } from "./filter-menu.tsx";
import { HelpMenu } from "./help-menu.tsx";
import { MetricMenu } from "./metric-menu.tsx";
import { PathBox } from "./path-box.tsx";
import { SearchBox } from "./search-box.tsx";
import { Status } from "./status.tsx";

export function Bar({ map }: { readonly map: RefObject<NetworkMap | null> }) {
  return (
    <header class="bar">
      <h1>
        <a href="/" class="brand">
          Gazetteer
        </a>
      </h1>
      <SearchBox />
      <Tabs />
      <div class="bar-end">
        <PathBox />
        <FilterMenu />
        <MetricMenu />
        <ChangesButton />
        <ViewsMenu />
        <ExportMenu map={map} />
        <HelpMenu />
        <ProblemsButton />
        <Status />
      </div>
    </header>
  );
}

function ChangesButton() {
  const { state, go } = useStore();
  const { changes } = state.value;
  return (
    <Button
      label="Recent changes"
      icon="list"
      text="Changes"
      pressed={changes}
      onClick={() => go({ changes: !changes })}
    />
  );
}

/** The tabs of the four views. They are links, so that a view can be opened in another window. */
function Tabs() {
  const { state, go } = useStore();
  const network = useNetwork();
  const counts: Readonly<Record<ViewName, number | undefined>> = {
    map: undefined,
    devices: network?.devices.size,
    links: network?.cables.size,
    hosts: network?.openedHosts.total,
  };
  return (
    <nav class="tabs" aria-label="Views">
      {VIEWS.map((view) => {
        const patch: Partial<ViewState> = { view, filter: "", sort: "" };
        return (
          <StateLink
            key={view}
            to={patch}
            data-view={view}
            aria-current={view === state.value.view ? "page" : undefined}
            onFollow={() => view !== state.peek().view && go(patch)}
          >
            {VIEW_TITLES[view]}
            {counts[view] !== undefined && <span class="count">{counts[view].toLocaleString("en")}</span>}
          </StateLink>
        );
      })}
    </nav>
  );
}

/**
 * The button that opens the list of problems. Of the current problems that are not acknowledged and call for attention, it
 * shows the worst severity and the number of problems with it. When the page shows another time, it adds "now".
 */
function ProblemsButton() {
  const { state, go, problems } = useStore();
  const { worst, worstCount } = problems.open.value;
  const { state: listState } = problems.live.value;
  const { problems: pressed, at } = state.value;
  const isOld = listState === "old";
  return (
    <Button
      class="text-button problems-button"
      pressed={pressed}
      title="The worst problems of now that are not acknowledged and follow from no other"
      data-worst={worst}
      data-list={listState}
      onClick={() => go(pressed ? { problems: false, problem: undefined } : { problems: true })}
    >
      <ProblemSign sign={SEVERITY_SIGNS[worst ?? "warning"]} severity={worst ?? "warning"} />
      {worst !== undefined && <span class="only-read">Problems, the worst: </span>}
      <span class="problems-words">{worst === undefined ? "Problems" : SEVERITY_SIGNS[worst].title}</span>{" "}
      {isRead(problems.live.value) && (
        <strong>{`${worstCount.toLocaleString("en")}${isOld ? "?" : ""}`}</strong>
      )}
      <span class="only-read">{isOld ? " not acknowledged, and not current" : " not acknowledged"}</span>
      {at !== undefined && " now"}
    </Button>
  );
}
