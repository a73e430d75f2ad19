/** The bar at the top: search, the tabs of the views, and the buttons that open lists and menus. */
import type { RefObject } from "preact";
import { ViewsMenu } from "../arrange/views-menu.tsx";
import { useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import type { NetworkMap } from "../map/map.ts";
import { ExportMenu } from "./export-menu.tsx";
import { FilterMenu } from "./filter-menu.tsx";
import { MetricMenu } from "./metric-menu.tsx";
import { PathBox } from "./path-box.tsx";
import { ProblemsButton } from "./problems-button.tsx";
import { SearchBox } from "./search-box.tsx";
import { Status } from "./status.tsx";
import { Tabs } from "./tabs.tsx";

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
    <Button label="Recent changes" icon="list" pressed={changes} onClick={() => go({ changes: !changes })} />
  );
}
