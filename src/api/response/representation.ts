/** A representation of a resource, before its entity tag, content encoding and body are made. */
import type { Arriving, ResultOrSteps } from "../../lib/steps.ts";

export interface Content {
  /** The body in order, with pauses and waits between; a short one as one text. It is read to its end or closed. */
  readonly chunks: string | Arriving<Uint8Array>;
  /** The chunks outlive this response (pages of the view), so their compressed form is cached with them. */
  readonly persistent?: boolean;
  /** The length in bytes, where it is known before rendering. */
  readonly length?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What is known of a representation before it is rendered. It may be kept for long: nothing in it, `currentVersion`
 * included, refers to the state that the representation is rendered from, which would keep old pages in memory.
 */
export interface RepresentationInfo {
  /** Everything that determines the bytes, except the content encoding and the state of the network. */
  readonly key: string;
  /** The version of the data that the bytes are rendered from. The same number means the same bytes. */
  readonly version: number;
  /** Of a representation of the current state: the version now. */
  readonly currentVersion?: (() => number) | undefined;
  /** The bytes differ in every version, so that the entity tag is the version. Otherwise it is a hash of the bytes. */
  readonly tagIsVersion?: boolean;
  readonly revision: number;
  /** A page of a walk: its revision is that of the walk, also when it is sent again at a later revision. */
  readonly isPage?: boolean;
  readonly contentType: string;
  /** Too small to gain from compression. */
  readonly tiny?: boolean;
}

export interface Representation {
  readonly info: RepresentationInfo;
  /** The whole content, where it is one text that is there before `render`. */
  readonly text?: string | undefined;
  render(): ResultOrSteps<Content>;
}
