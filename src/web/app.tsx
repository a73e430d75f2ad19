/** The entry of the page, and its shell: the bar, the problems, the map or a table, the panel, the time line and the notices. */
import { useComputed, useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { createClient } from "../client/client.ts";
import { Bar } from "./bar/bar.tsx";
import { Chips } from "./bar/chips.tsx";
import { isOutOfDate } from "./bar/status.tsx";
import { createStore, type PageStore, StoreContext, useStore } from "./data/page-store.ts";
import { createSession } from "./data/session.ts";
import { startSync } from "./data/sync.ts";
import { EmptyState } from "./elements/empty-state.tsx";
import type { NetworkMap } from "./map/map.ts";
import { MapView } from "./map/map-view.tsx";
import { syncTheme } from "./map/palette.ts";
import { PaperHead, PaperLegend, watchPrinting } from "./map/paper.tsx";
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
      <PaperHead />
      <main
        id="main"
        class={isOutOfDate(store) ? "main out-of-date" : "main"}
        tabIndex={-1}
        aria-busy={store.isMomentLoading.value}
      >
        <MapView workerUrl={workerUrl} map={map} />
        <Table />
        <Chips />
        <EmptyState />
      </main>
      <PaperLegend />
      {!wall.value && <Panel />}
      {!wall.value && <Timeline />}
      <Notices />
      <LoginForm />
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

/** The form that is shown when the service no longer accepts the credentials of the page. What was shown stays below it. */
function LoginForm() {
  const { session } = useStore();
  const { needsLogin } = session;
  const fault = useSignal<string | undefined>(undefined);
  const isSent = useSignal(false);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (needsLogin.value) first.current?.focus();
  }, [needsLogin.value]);
  if (!needsLogin.value) return null;
  const submit = async (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    isSent.value = true;
    fault.value = await session.logIn(String(fields.get("user")), String(fields.get("password")));
    isSent.value = false;
  };
  return (
    <form class="login" aria-labelledby="login-title" onSubmit={(event) => void submit(event)}>
      <h2 id="login-title">Log in</h2>
      <p>
        The service no longer accepts the user name and password of this page. What is shown is no longer
        updated.
      </p>
      <label>
        User name
        <input name="user" autocomplete="username" required ref={first} />
      </label>
      <label>
        Password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
      <p class="error-text" role="alert">
        {fault.value}
      </p>
      <button class="text-button" type="submit" disabled={isSent.value}>
        Log in
      </button>
    </form>
  );
}

const session = createSession(`${location.origin}/controller/v1/topology`);
const store = createStore(createClient({ url: location.origin, fetch: session.fetch }), session);
startSync(store);
syncTheme();
watchPrinting();
const worker = document.querySelector<HTMLMetaElement>('meta[name="layout-worker"]');
render(<App store={store} workerUrl={worker?.content ?? ""} />, document.body);
