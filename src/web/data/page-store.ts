/**
 * Everything the components show, as signals, and the actions they call. A component that reads the value of a signal
 * renders again when that value changes. `sync.ts` writes the signals; components call actions.
 *
 * The network is changed in place, because a copy of 100,000 hosts for each change is too slow. Components therefore
 * get it from `useNetwork`, never as a property: a component with equal properties is not rendered again.
 */
import { computed, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Client, ConnectionState, Readiness } from "../../client/client.ts";
import type { RevisionTime } from "../../client/types.ts";
import type { MapSettings } from "../../model/map-settings.ts";
import { createArranging } from "../arrange/arranging.ts";
import { createProblemStore } from "../problems/problem-store.ts";
import type { ChangeGroup } from "./change-groups.ts";
import { type DriftList, missingEntities } from "./drift-list.ts";
import type { OverlayResult } from "./link-overlay.ts";
import type { Comparison } from "./load-network.ts";
import { createPlannedNetworks, type PageNetwork } from "./page-network.ts";
import type { PageSession } from "./session.ts";
import type { LoadedPath } from "./shown-path.ts";
import {
  createNavigation,
  type EntityRef,
  isRevision,
  type MarkLayer,
  type ViewState,
} from "./view-state.ts";

interface Notice {
  readonly id: number;
  readonly text: string;
}

const NOTICE_MS = 4000;

export type PageStore = ReturnType<typeof createStore>;

export function createStore(client: Client, session: PageSession) {
  const navigation = createNavigation();
  const live = signal<PageNetwork | undefined>(undefined);
  /** The network as of `state.at`. Undefined when the page shows the present, or before it is loaded. */
  const past = signal<PageNetwork | undefined>(undefined);
  /** The revision and time of the past network. */
  const pastMoment = signal<RevisionTime | undefined>(undefined);
  const comparison = signal<Comparison | undefined>(undefined);
  /** The first end of a path, while the user picks the second. */
  const pathStart = signal<EntityRef | undefined>(undefined);
  const notices = signal<readonly Notice[]>([]);
  /** The entities that are not as planned. Undefined when the page does not need the list, or before it is loaded. */
  const drift = signal<DriftList | undefined>(undefined);
  /** The network that the views show: both sides of a comparison, a past network or the live one. */
  const network = computed(() => comparison.value?.network ?? past.value ?? live.value);
  /** Settings from the service's configuration; undefined until they are loaded. */
  const settings = signal<MapSettings | undefined>(undefined);
  /** The values of the chosen metric; undefined when none is chosen, and until they are loaded. */
  const overlayResult = signal<OverlayResult | undefined>(undefined);
  /** The reason why the requested past or comparison is not shown, as the service states it. */
  const problem = signal<string | undefined>(undefined);
  /** The moments that the views show. They differ from those of the address until the latter are loaded. */
  const shownMoments = signal<Pick<ViewState, "at" | "compare">>({ at: undefined, compare: undefined });
  /** Epoch milliseconds of a moment of the address. Undefined at the present, and until the time of a revision is loaded. */
  const timeOf = (moment: string | undefined): number | undefined => {
    if (moment === undefined) return undefined;
    if (!isRevision(moment)) return Date.parse(moment);
    const loaded = [pastMoment.value, comparison.value?.from, comparison.value?.to];
    return loaded.find((one) => one?.revision === Number(moment))?.time;
  };
  const readiness = signal<Readiness | undefined>(undefined);
  const problems = createProblemStore(navigation.state);
  const plannedNetworks = createPlannedNetworks();
  let lastNoticeId = 0;
  return {
    ...navigation,
    client,
    session,
    live,
    past,
    pastMoment,
    comparison,
    pathStart,
    notices,
    drift,
    network,
    settings,
    overlayResult,
    problem,
    shownMoments,
    /** The arrangement of devices and boxes by the user, and the saved views. */
    arranging: createArranging(navigation, settings),
    problems,
    /** Epoch milliseconds of the moment that the views show, which may be after the last change; undefined at the present. */
    pastMs: computed(() => timeOf(shownMoments.value.at)),
    timeOf,
    /** Whether each layer can have content: there is a plan, or a problem about contradictory reports. */
    offeredLayers: computed(
      (): Readonly<Record<MarkLayer, boolean>> => ({
        drift: readiness.value?.sources?.some(({ role }) => role === "intended") ?? false,
        conflicts: problems.shown.value.problems.some(
          ({ kind }) => kind === "conflict" || kind === "host-duplicated",
        ),
      }),
    ),
    /** The network with the entities that are only planned, for the map and the panel. */
    plannedNetwork: computed(() => {
      const missing = drift.value ? missingEntities(drift.value) : [];
      return network.value && plannedNetworks(network.value, missing);
    }),
    /** A number that rises when the shown network changes in place. */
    networkVersion: signal(0),
    /** The values that the map draws on links. There are none for the past and for a comparison: the values are current. */
    overlay: computed(() => {
      const { at, compare } = navigation.state.value;
      const result = overlayResult.value;
      return result?.ok && at === undefined && compare === undefined ? result.overlay : undefined;
    }),
    connection: signal<ConnectionState>({ state: "connecting" }),
    /** Epoch milliseconds at which data was last received before the stream of the live network was lost; undefined while it is connected. */
    lostSince: signal<number | undefined>(undefined),
    readiness,
    /** Recent changes in groups, newest first. */
    recentChanges: signal<readonly ChangeGroup[]>([]),
    /** Epoch milliseconds; `recentChanges` has every change after it. */
    recentSince: signal(Date.now()),
    /** The shortest paths between the ends of the address. Undefined until they are loaded. */
    path: signal<LoadedPath | undefined>(undefined),
    /** Whether the paths of the address are being loaded. Meanwhile `path` keeps those of the last moment between the same ends. */
    pathLoading: signal(false),
    /** The reason why there are no paths, as the service states it. */
    pathFault: signal<string | undefined>(undefined),
    /** The reason why the map is not drawn or is out of date. */
    mapFault: signal<string | undefined>(undefined),
    /** Whether a past network or a comparison is being loaded. */
    loading: signal(false),
    /** Whether the views show other moments than the address. False between steps of playback, so that it shows no spinner. */
    isMomentLoading: computed(() => {
      const { at, compare, play } = navigation.state.value;
      const shown = shownMoments.value;
      const isPlayStep = play && shown.at !== undefined && shown.compare === compare;
      if (problem.value !== undefined || isPlayStep) return false;
      return shown.at !== at || shown.compare !== compare;
    }),
    /** Handles a click on an entity: selects it in a view, or ends the path that was started. */
    pick(ref: EntityRef | undefined, view = navigation.state.peek().view) {
      const start = pathStart.peek();
      if (!ref) return navigation.go({ selected: undefined, problem: undefined });
      if (!start) return navigation.go({ selected: ref, view });
      pathStart.value = undefined;
      navigation.go({ path: [start, ref], selected: undefined, view: "map" });
    },
    /** Starts a path at an entity; undefined cancels it. */
    startPath(from: EntityRef | undefined): void {
      pathStart.value = from;
    },
    /** Shows a text for some seconds, also to screen readers. */
    notify(text: string): void {
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

export const useNetwork = (): PageNetwork | undefined => readNetwork(useStore());

/** The same for the network with the planned entities. */
export function usePlannedNetwork(): PageNetwork | undefined {
  const { plannedNetwork, networkVersion } = useStore();
  void networkVersion.value;
  return plannedNetwork.value;
}
