/** The message in place of the content: while it is loading, when it cannot be shown, and when there is no device. */
import type { ComponentChildren } from "preact";
import { isFailing, type SourceStatus } from "../../model/source-status.ts";
import { type PageStore, readNetwork, useStore } from "../data/page-store.ts";
import { LAYER_TITLES } from "../data/view-state.ts";
import { Button } from "./controls.tsx";

const EXAMPLE = `sources:
  - type: file
    name: racks
    path: network.yaml
  - type: openflow
    name: switches
    listen: 0.0.0.0:6653`;

export function EmptyState() {
  const store = useStore();
  const message = messageOf(store);
  const isFault = store.problem.value !== undefined || hasMapFault(store);
  const covers = isFault && store.network.value !== undefined;
  return (
    <div class={covers ? "empty over" : "empty"} role="status" hidden={message === undefined}>
      {message}
    </div>
  );
}

/** The message. Undefined when there is content to show. */
function messageOf(store: PageStore): ComponentChildren {
  const { state, problem, loading, connection, readiness } = store;
  const network = readNetwork(store);
  if (problem.value !== undefined) {
    return (
      <>
        <h2>That cannot be shown</h2>
        <p>{problem.value}</p>
      </>
    );
  }
  if (network === undefined) {
    if (connection.value.state !== "reconnecting") return <p class="muted">Reading the network…</p>;
    return (
      <>
        <h2>No connection to the service</h2>
        <p>{connection.value.reason}</p>
        <p>The page reconnects automatically.</p>
      </>
    );
  }
  const planned = store.plannedNetwork.value?.devices.size ?? 0;
  if (hasMapFault(store)) {
    return (
      <>
        <h2>The map cannot be drawn</h2>
        <p>{`The reason: ${store.mapFault.value}. The tables have the same content.`}</p>
      </>
    );
  }
  if (network.devices.size + planned > 0 || state.value.view !== "map" || loading.value) return undefined;
  if (network.isPartial) return <p class="muted">The service reads the network from its sources…</p>;
  if (state.value.at !== undefined) {
    return (
      <>
        <h2>There was nothing then</h2>
        <p>No device was known at that moment. The time line shows how far the history goes back.</p>
        <PlanButton />
      </>
    );
  }
  return <NoDevices sources={readiness.value?.sources ?? []} />;
}

/** Whether the map is in view, has devices to draw, and cannot be drawn. */
const hasMapFault = ({ mapFault, state, plannedNetwork }: PageStore): boolean =>
  mapFault.value !== undefined && state.value.view === "map" && (plannedNetwork.value?.devices.size ?? 0) > 0;

/** The button that shows the drift layer. Without observed devices there is no map with the button of the layer. */
function PlanButton() {
  const { state, offeredLayers, go } = useStore();
  if (!offeredLayers.value.drift || state.value.layer === "drift") return null;
  const show = () => go({ layer: "drift", compare: undefined });
  return (
    <p>
      A source has the plan of the network: <Button label={LAYER_TITLES.drift} onClick={show} />
    </p>
  );
}

interface SourceListProps {
  readonly title: string;
  readonly sources: readonly SourceStatus[];
}

function SourceList({ title, sources }: SourceListProps) {
  if (sources.length === 0) return null;
  return (
    <>
      <p>{title}</p>
      <ul>
        {sources.map(({ name, kind, error, status }) => (
          <li key={name}>{`${name} (${kind}): ${error ?? status}`}</li>
        ))}
      </ul>
    </>
  );
}

function NoDevices({ sources }: { readonly sources: readonly SourceStatus[] }) {
  const {
    failing = [],
    waiting = [],
    working = [],
  } = Object.groupBy(sources, (source) =>
    isFailing(source) ? "failing" : source.status === "starting" ? "waiting" : "working",
  );
  return (
    <div>
      <h2>No devices yet</h2>
      <PlanButton />
      <SourceList title="These sources fail:" sources={failing} />
      <SourceList title="These sources have not reported yet:" sources={waiting} />
      <SourceList title="These sources work, and have reported no device:" sources={working} />
      <p>A source reports to the service what exists. Name one in the configuration, for example:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the box scrolls, so that the keyboard must reach it */}
      <pre tabIndex={0}>
        <code>{EXAMPLE}</code>
      </pre>
      <p>
        or look around in a simulated network: <code>gazetteer serve --demo</code>
      </p>
      <p class="muted">The map fills as soon as the first device is there; no reload is needed.</p>
    </div>
  );
}
