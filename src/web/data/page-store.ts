/**
 * Everything the components show, as signals, and the actions they call. A component that reads the value of a signal
 * renders again when that value changes. `sync.ts` writes the signals; components call actions.
 *
 * The network is changed in place, because a copy of 100,000 hosts for each change is too slow. Components therefore
 * get it from `useNetwork`, never as a property: a component with equal properties is not rendered again.
 */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Client, ConnectionState, Readiness } from "../../client/client.ts";
import type { RevisionTime } from "../../client/types.ts";
import type { MapSettings } from "../../model/map-settings.ts";
import { type Arranging, createArranging } from "../arrange/arranging.ts";
import { createProblemStore, type ProblemStore } from "../problems/problem-store.ts";
import type { ChangeGroup } from "./change-groups.ts";
import { type DriftList, missingEntities } from "./drift-list.ts";
import type { LinkOverlay } from "./link-overlay.ts";
import { type OverlayResult, overlayOf } from "./link-overlay.ts";
import type { Comparison } from "./load-network.ts";
import type { PageNetwork } from "./page-network.ts";
import { createPlannedNetworks } from "./page-network.ts";
import type { LoadedPath } from "./shown-path.ts";
import {
  createNavigation,
  type EntityRef,
  isRevision,
  type Navigation,
  type ViewState,
} from "./view-state.ts";

interface Notice {
  readonly id: number;
  readonly text: string;
}

export interface PageStore extends Navigation {
  readonly client: Client;
  /** The arrangement of devices and boxes by the user, and the saved views. */
  readonly arranging: Arranging;
  readonly live: Signal<PageNetwork | undefined>;
  /** The network as of `state.at`. Undefined when the page shows the present, or before it is loaded. */
  readonly past: Signal<PageNetwork | undefined>;
  /** The revision and time of the past network. */
  readonly pastMoment: Signal<RevisionTime | undefined>;
  /** Epoch milliseconds of the moment that the views show, which may be after the last change; undefined at the present. */
  readonly pastMs: ReadonlySignal<number | undefined>;
  readonly comparison: Signal<Comparison | undefined>;
  /** The entities that are not as planned. Undefined when the page does not need the list, or before it is loaded. */
  readonly drift: Signal<DriftList | undefined>;
  /** The network with the entities that are only planned, for the map and the panel. */
  readonly plannedNetwork: ReadonlySignal<PageNetwork | undefined>;
  /** The network that the views show: both sides of a comparison, a past network or the live one. */
  readonly network: ReadonlySignal<PageNetwork | undefined>;
  /** A number that rises when the shown network changes in place. */
  readonly networkVersion: Signal<number>;
  /** Settings from the service's configuration; undefined until they are loaded. */
  readonly settings: Signal<MapSettings | undefined>;
  /** The values of the chosen metric; undefined when none is chosen, and until they are loaded. */
  readonly overlayResult: Signal<OverlayResult | undefined>;
  /** The values that the map draws on links. */
  readonly overlay: ReadonlySignal<LinkOverlay | undefined>;
  readonly connection: Signal<ConnectionState>;
  /** Epoch milliseconds at which the stream of the live network was lost; undefined while it is connected. */
  readonly lostSince: Signal<number | undefined>;
  readonly readiness: Signal<Readiness | undefined>;
  /** Recent changes in groups, newest first. */
  readonly recentChanges: Signal<readonly ChangeGroup[]>;
  /** Epoch milliseconds; `recentChanges` has every change after it. */
  readonly recentSince: Signal<number>;
  /** The shortest paths between the ends of the address. Undefined until they are loaded. */
  readonly path: Signal<LoadedPath | undefined>;
  /** Whether the paths of the address are being loaded. Meanwhile `path` keeps those of the last moment between the same ends. */
  readonly pathLoading: Signal<boolean>;
  /** The reason why there are no paths, as the service states it. */
  readonly pathFault: Signal<string | undefined>;
  readonly problems: ProblemStore;
  /** The first end of a path, while the user picks the second. */
  readonly pathStart: ReadonlySignal<EntityRef | undefined>;
  /** The reason why the requested past or comparison is not shown, as the service states it. */
  readonly problem: Signal<string | undefined>;
  /** The reason why the map is not drawn or is out of date. */
  readonly mapFault: Signal<string | undefined>;
  /** Whether a past network or a comparison is being loaded. */
  readonly loading: Signal<boolean>;
  /** The moments that the views show. They differ from those of the address until the latter are loaded. */
  readonly shownMoments: Signal<Pick<ViewState, "at" | "compare">>;
  /** Whether the views show other moments than the address. False between steps of playback, so that it shows no spinner. */
  readonly isMomentLoading: ReadonlySignal<boolean>;
  readonly notices: ReadonlySignal<readonly Notice[]>;
  /** Handles a click on an entity: selects it, or ends the path that was started. */
  pick(ref: EntityRef | undefined): void;
  /** Starts a path at an entity; undefined cancels it. */
  startPath(from: EntityRef | undefined): void;
  /** Shows a text for some seconds, also to screen readers. */
  notify(text: string): void;
}

const NOTICE_MS = 4000;

export function createStore(client: Client): PageStore {
  const navigation = createNavigation();
  const live = signal<PageNetwork | undefined>(undefined);
  const past = signal<PageNetwork | undefined>(undefined);
  const pastMoment = signal<RevisionTime | undefined>(undefined);
  const comparison = signal<Comparison | undefined>(undefined);
  const pathStart = signal<EntityRef | undefined>(undefined);
  const notices = signal<readonly Notice[]>([]);
  const drift = signal<DriftList | undefined>(undefined);
  const network = computed(() => comparison.value?.network ?? past.value ?? live.value);
  const networkVersion = signal(0);
  const settings = signal<MapSettings | undefined>(undefined);
  const overlayResult = signal<OverlayResult | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const shownMoments = signal<Pick<ViewState, "at" | "compare">>({ at: undefined, compare: undefined });
  const plannedNetworks = createPlannedNetworks();
  let lastNoticeId = 0;
  return {
    ...navigation,
    client,
    arranging: createArranging(navigation, settings),
    live,
    past,
    pastMoment,
    pastMs: computed(() => {
      const { at } = shownMoments.value;
      if (at === undefined) return undefined;
      return isRevision(at) ? pastMoment.value?.time : Date.parse(at);
    }),
    comparison,
    drift,
    plannedNetwork: computed(() => {
      const missing = drift.value ? missingEntities(drift.value) : [];
      return network.value && plannedNetworks(network.value, missing);
    }),
    network,
    networkVersion,
    settings,
    overlayResult,
    overlay: overlayOf(navigation.state, overlayResult),
    connection: signal<ConnectionState>({ state: "connecting" }),
    lostSince: signal<number | undefined>(undefined),
    readiness: signal<Readiness | undefined>(undefined),
    recentChanges: signal<readonly ChangeGroup[]>([]),
    recentSince: signal(Date.now()),
    path: signal<LoadedPath | undefined>(undefined),
    pathLoading: signal(false),
    pathFault: signal<string | undefined>(undefined),
    problems: createProblemStore(navigation.state),
    pathStart,
    problem,
    mapFault: signal<string | undefined>(undefined),
    loading: signal(false),
    shownMoments,
    isMomentLoading: computed(() => {
      const { at, compare, play } = navigation.state.value;
      const shown = shownMoments.value;
      const isPlayStep = play && shown.at !== undefined && shown.compare === compare;
      if (problem.value !== undefined || isPlayStep) return false;
      return shown.at !== at || shown.compare !== compare;
    }),
    notices,
    pick(ref) {
      const start = pathStart.peek();
      if (!ref) return navigation.go({ selected: undefined, problem: undefined });
      if (!start) return navigation.go({ selected: ref });
      pathStart.value = undefined;
      navigation.go({ path: [start, ref], selected: undefined, view: "map" });
    },
    startPath(from) {
      pathStart.value = from;
    },
    notify(text) {
      const id = ++lastNoticeId;
      notices.value = [...notices.peek(), { id, text }];
      setTimeout(() => {
        notices.value = notices.peek().filter((notice) => notice.id !== id);
      }, NOTICE_MS);
    },
  };
}

export const StoreContext = createContext<PageStore | undefined>(undefined);

export function useStore(): PageStore {
  const store = useContext(StoreContext);
  if (!store) throw new Error("no store around this component");
  return store;
}

/** Subscribes the caller to the network, including changes made to it in place. */
export function readNetwork({ network, networkVersion }: PageStore): PageNetwork | undefined {
  void networkVersion.value;
  return network.value;
}

/** The same for the network with the planned entities. */
function readPlannedNetwork({ plannedNetwork, networkVersion }: PageStore): PageNetwork | undefined {
  void networkVersion.value;
  return plannedNetwork.value;
}

export const usePlannedNetwork = (): PageNetwork | undefined => readPlannedNetwork(useStore());

export const useNetwork = (): PageNetwork | undefined => readNetwork(useStore());
