/**
 * Puts the page together: one model, parts that are drawn from it, and the three things that change it, which are the
 * address bar, the network, and time.
 */
import { ClientError, type ConnectionState, createClient, type Readiness } from "../client/client.ts";
import { createChips } from "./bar/chips.tsx";
import { createTakeaway } from "./bar/export-menu.tsx";
import { createFilters } from "./bar/filter-menu.tsx";
import { createSearchBox } from "./bar/search-box.tsx";
import { createStatus } from "./bar/status.tsx";
import { createTabs } from "./bar/tabs.tsx";
import { button, h } from "./dom.ts";
import { createEmptyState } from "./empty-state.tsx";
import { type Comparison, loadComparison, loadNetworkAt } from "./history.ts";
import { icon } from "./icon.tsx";
import { type NetworkChange, watchNetwork } from "./live.ts";
import { createMapStage } from "./map/map-view.tsx";
import { createNavigation } from "./navigation.ts";
import type { Network } from "./network.ts";
import { createNotices } from "./notices.tsx";
import { createPanel } from "./panel/panel.tsx";
import type { EntityRef, ViewState } from "./state.ts";
import type { Actions, Model, Part } from "./store.ts";
import { createTable } from "./table/table.tsx";
import { throttle } from "./throttle.ts";
import { createTimeline } from "./timeline/timeline.tsx";

const HEALTH_EVERY_MS = 10_000;
const MAX_RECENT = 500;
/** A large network is redrawn at most this often, however lively it is. */
const LARGE_REDRAW_MS = 400;
const LARGE = 2000;
const FOLLOW_MS = 2000;

export function startApp(root: HTMLElement, workerUrl: string): void {
  const client = createClient({ url: location.origin });
  const navigation = createNavigation();
  const notices = createNotices();
  let live: Network | undefined;
  let past: Network | undefined;
  let comparison: Comparison | undefined;
  let connection: ConnectionState = { state: "connecting" };
  let health: Readiness | undefined;
  let recent: readonly NetworkChange[] = [];
  let picking: EntityRef | undefined;
  let problem: string | undefined;
  let loading = false;
  let asking = new AbortController();

  const actions: Actions = {
    client,
    go: (patch) => navigation.go(patch),
    adjust: (patch) => navigation.adjust(patch),
    say: (words) => notices.say(words),
    beginWay(from) {
      picking = from;
      render();
    },
    pick(ref) {
      if (picking && ref) {
        const path: readonly [EntityRef, EntityRef] = [picking, ref];
        picking = undefined;
        navigation.go({ path, selected: undefined, view: "map" });
      } else navigation.go({ selected: ref });
    },
  };

  const stage = createMapStage(actions, workerUrl);
  const changesButton = button(
    "Recent changes",
    () => navigation.go({ changes: !navigation.state.changes }),
    { icon: icon("list") },
  );
  const parts: Part[] = [];
  const part = <P extends Part>(one: P): HTMLElement => {
    parts.push(one);
    return one.element;
  };
  root.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the content"),
    h(
      "header",
      { class: "bar" },
      h("h1", {}, h("a", { href: "/", class: "brand" }, "Gazetteer")),
      part(createSearchBox(actions)),
      part(createTabs(actions)),
      h(
        "div",
        { class: "bar-end" },
        part(createFilters(actions)),
        changesButton,
        part(createTakeaway(actions, () => stage.png())),
        part(createStatus()),
      ),
    ),
    h(
      "main",
      { id: "main", class: "main", tabindex: -1 },
      part(stage),
      part(createTable(actions)),
      part(createChips(actions)),
      part(createEmptyState()),
    ),
    part(createPanel(actions)),
    part(createTimeline(actions)),
    notices.element,
  );

  function model(): Model {
    const network =
      comparison?.network ?? past ?? (navigation.state.at === undefined ? live : undefined) ?? live;
    return {
      state: navigation.state,
      network,
      comparison,
      connection,
      health,
      recent,
      picking,
      problem,
      loading,
    };
  }

  let scheduled = false;
  function render(): void {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      const now = model();
      changesButton.setAttribute("aria-pressed", String(now.state.changes));
      for (const one of parts) one.update(now);
    });
  }

  const renderSoon = throttle(LARGE_REDRAW_MS, render);
  const renderChange = () => ((live?.devices.size ?? 0) < LARGE ? render() : renderSoon());

  /** Fetches what the address asks for beyond the live network. */
  async function turnTo({ at, compare }: Pick<ViewState, "at" | "compare">): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    problem = undefined;
    if (at === undefined && compare === undefined) {
      [past, comparison, loading] = [undefined, undefined, false];
      return render();
    }
    loading = true;
    try {
      const then = at === undefined ? undefined : await loadNetworkAt(client, at, signal);
      const base = then ?? live;
      const both =
        compare !== undefined && base ? await loadComparison(client, compare, at, base, signal) : undefined;
      if (signal.aborted) return;
      [past, comparison] = [then, both];
    } catch (error) {
      if (signal.aborted) return;
      problem = error instanceof ClientError ? error.detail : String(error);
    }
    loading = false;
    render();
  }

  /** A comparison with now is of the network as it was when it was asked for: it follows, but at a walk. */
  const followComparison = throttle(FOLLOW_MS, () => {
    if (navigation.state.compare !== undefined && navigation.state.at === undefined)
      void turnTo(navigation.state);
  });

  async function checkHealth(): Promise<void> {
    try {
      health = await client.ready();
    } catch {
      return; // the stream tells of a lost connection
    }
    render();
  }

  navigation.watch((state, before) => {
    if (state.at !== before.at || state.compare !== before.compare) void turnTo(state);
    render();
  });
  void watchNetwork(
    client,
    {
      replaced(network) {
        live = network;
        performance.mark("network-loaded");
        void turnTo(navigation.state);
        render();
      },
      changed(changes) {
        recent = [...changes.toReversed(), ...recent].slice(0, MAX_RECENT);
        followComparison();
        renderChange();
      },
      recalled(changes) {
        recent = [...recent, ...changes.toReversed()].slice(0, MAX_RECENT);
        render();
      },
      connection(state) {
        // What was known of the sources before the connection was lost may no longer be so.
        if (state.state === "connected" && connection.state !== "connected") void checkHealth();
        connection = state;
        render();
      },
      failed(error) {
        if (error instanceof ClientError && error.status === 401) location.reload();
      },
    },
    new AbortController().signal,
  );
  void checkHealth();
  setInterval(() => void checkHealth(), HEALTH_EVERY_MS);
  render();
}
