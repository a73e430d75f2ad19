/**
 * What the contract suite (`contract.test.ts`) needs to know of a kind of source: one row a kind, in a file of the kind's
 * name that exports `row`. A row starts a real peer of the source, or a fake one on loopback, and makes it show networks,
 * fail and misbehave. The suite is the same for all kinds.
 */

/**
 * - `a`, `b`: two different networks; something in `a` is not in `b`, and something in `b` is not in `a`.
 * - `malformed`: network `a` and malformed records beside it.
 * - `hostile`: a network with a device that has `HOSTILE_TEXT` in as many places as the peer can have text.
 */
export type NetworkName = "a" | "b" | "malformed" | "hostile";

/** More bytes than the source may read; bytes without end; no byte for longer than its time-out. */
export type Misbehaviour = "huge" | "endless" | "slow";

/** The ids that the service shows of a network, sorted. */
export interface Shown {
  readonly devices: readonly string[];
  readonly links: readonly string[];
  readonly hosts: readonly string[];
}

export interface Peer extends AsyncDisposable {
  /**
   * The entry of the source, without its name. Intervals and time-outs are one second and limits small, so that the suite
   * takes seconds.
   */
  readonly entry: Readonly<Record<string, unknown>> & { readonly type: string };
  show(network: NetworkName): Promise<void>;
  /** Nothing can be read from now on. */
  fail(): Promise<void>;
  misbehave(how: Misbehaviour): Promise<void>;
  /** Ends `fail` and `misbehave`: the network that was shown last can be read again. */
  mend(): Promise<void>;
  /** Reads that the peer has responded to so far. Absent where the peer is not polled. */
  reads?(): number;
  /** What the source has open at the peer: connections, processes. */
  openCount(): number;
}

export interface ContractRow {
  /** The peer shows network `a` at first. The folder is empty and is deleted at the end. */
  start(folder: string): Promise<Peer>;
  readonly shown: Readonly<Record<"a" | "b", Shown>>;
  /** How many records of the network `malformed` are dropped, or that it is refused as a whole. */
  readonly malformed: number | "refused";
  readonly misbehaviours: readonly Misbehaviour[];
  /** The id of the device with the hostile text. */
  readonly hostileDevice: string;
}

/** Breaks out of quotes, elements, cells, lines and terminals where it is not escaped. */
export const HOSTILE_TEXT = `=1+1"';<script>alert(1)</script>&amp;]]>--\\"\r\n,\u001b[31m\u202e{{x}}`;
/** The part of it that every peer can carry. */
export const HOSTILE_MARKUP = "<script>alert(1)</script>";
