/** Everything the parts of the page are drawn from, in one place, and what they may ask for. */
import type { Client, ConnectionState, Readiness } from "../client/client.ts";
import type { Comparison } from "./history.ts";
import type { NetworkChange } from "./live.ts";
import type { Network } from "./network.ts";
import type { EntityRef, ViewState } from "./state.ts";

export interface Model {
  readonly state: ViewState;
  /** What the views show: the live network, a past one, or a comparison. Undefined until the first is there. */
  readonly network: Network | undefined;
  readonly comparison: Comparison | undefined;
  readonly connection: ConnectionState;
  readonly health: Readiness | undefined;
  /** Newest first. */
  readonly recent: readonly NetworkChange[];
  /** The first end of a way whose second is still to be picked. */
  readonly picking: EntityRef | undefined;
  /** Why what was asked for is not shown, in the service's own words. */
  readonly problem: string | undefined;
  readonly loading: boolean;
}

export interface Actions {
  readonly client: Client;
  go(patch: Partial<ViewState>): void;
  adjust(patch: Partial<ViewState>): void;
  /** A click on a thing, wherever it is shown: selects it, or ends a way that was begun. */
  pick(ref: EntityRef | undefined): void;
  beginWay(from: EntityRef | undefined): void;
  /** A short notice that goes away by itself; also read out. */
  say(words: string): void;
}

/** A part of the page: drawn once, then told whenever something changed. */
export interface Part {
  readonly element: HTMLElement;
  update(model: Model): void;
}
