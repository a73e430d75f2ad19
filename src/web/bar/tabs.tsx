/** The tabs of the four views. They are links, so that a view can be opened in another window. */

import { useNetwork, useStore } from "../data/page-store.ts";
import { formatState, VIEWS, type View, type ViewState } from "../data/view-state.ts";

const TITLES: Readonly<Record<View, string>> = {
  map: "Map",
  devices: "Devices",
  links: "Links",
  hosts: "Hosts",
};

export function Tabs() {
  const { state, go } = useStore();
  const network = useNetwork();
  const counts: Readonly<Record<View, number | undefined>> = {
    map: undefined,
    devices: network?.devices.size,
    links: network?.links.size,
    hosts: network?.openedHosts.total,
  };
  return (
    <nav class="tabs" aria-label="Views">
      {VIEWS.map((view) => {
        const patch: Partial<ViewState> = { view, filter: "", sort: "" };
        return (
          <a
            key={view}
            href={formatState({ ...state.value, ...patch })}
            data-view={view}
            aria-current={view === state.value.view ? "page" : undefined}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              if (view !== state.peek().view) go(patch);
            }}
          >
            {TITLES[view]}
            {counts[view] !== undefined && <span class="count">{counts[view].toLocaleString("en")}</span>}
          </a>
        );
      })}
    </nav>
  );
}
