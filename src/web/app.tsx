/** The entry of the page, and its shell: the bar, the problems, the map or a table, the panel, the time line and the notices. */
import { useComputed } from "@preact/signals";
import { render } from "preact";
import { useRef } from "preact/hooks";
import { createClient } from "../client/client.ts";
import { Bar } from "./bar/bar.tsx";
import { Chips } from "./bar/chips.tsx";
import { createStore, type PageStore, StoreContext, useStore } from "./data/page-store.ts";
import { startSync } from "./data/sync.ts";
import { EmptyState } from "./elements/empty-state.tsx";
import type { NetworkMap } from "./map/map.ts";
import { MapView } from "./map/map-view.tsx";
import { syncTheme } from "./map/palette.ts";
import { Panel } from "./panel/panel.tsx";
import { ProblemAnnouncer } from "./problems/new-problems.tsx";
import { Problems } from "./problems/problems.tsx";
import { WallBar } from "./problems/wall.tsx";
import { Table } from "./table/table.tsx";
import { Timeline } from "./timeline/timeline.tsx";

function App({ store, workerUrl }: { readonly store: PageStore; readonly workerUrl: string }) {
  const map = useRef<NetworkMap>(null);
  const wall = useComputed(() => store.state.value.wall);
  return (
    <StoreContext.Provider value={store}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      {wall.value ? <WallBar /> : <Bar map={map} />}
      <Problems />
      <main id="main" class="main" tabIndex={-1} aria-busy={store.isMomentLoading.value}>
        <MapView workerUrl={workerUrl} map={map} />
        <Table />
        <Chips />
        <EmptyState />
      </main>
      {!wall.value && <Panel />}
      {!wall.value && <Timeline />}
      <Notices />
      <ProblemAnnouncer />
    </StoreContext.Provider>
  );
}

/** Short texts that disappear after some seconds: what was copied, what failed. Screen readers read them out. */
function Notices() {
  const { notices } = useStore();
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text }) => (
        <p key={id} class="notice">
          {text}
        </p>
      ))}
    </div>
  );
}

const store = createStore(createClient({ url: location.origin }));
startSync(store);
syncTheme();
const worker = document.querySelector<HTMLMetaElement>('meta[name="layout-worker"]');
render(<App store={store} workerUrl={worker?.content ?? ""} />, document.body);
