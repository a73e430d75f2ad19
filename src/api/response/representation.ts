/**
 * The two notions of an answer: a representation is what an endpoint reads, before its entity tag, content encoding and body
 * are made, and a response is what is sent.
 */
import type { Response } from "../../http1/response.ts";
import type { Arriving, ResultOrSteps } from "../../lib/steps.ts";

export const JSON_TYPE = "application/json";

export interface Content {
  /** The parts of the body with pauses and waits between them, or a short body as text. They are read to their end or closed. */
  readonly chunks: string | Arriving<Uint8Array>;
  /** Whether the chunks outlive this response (pages of the view), so that their compressed form is cached with them. */
  readonly persistent?: boolean;
  /** The length in bytes, if it is known before rendering. */
  readonly length?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What is known of a representation before it is rendered. It may be kept for a long time, so nothing in it, including
 * `currentVersion`, may refer to the state that the representation is rendered from, which would keep old pages in memory.
 */
export interface RepresentationInfo {
  /** A text of everything that determines the bytes, except the content encoding and the state of the network. */
  readonly key: string;
  /** The version of the data that the bytes are rendered from. The same number means the same bytes. */
  readonly version: number;
  /** Returns the current version of the data. Set only for a representation of the current state. */
  readonly currentVersion?: (() => number) | undefined;
  /**
   * A number that identifies the bytes among all that this key has ever had, so that the entity tag contains the number and
   * not a hash of the bytes. The revision of an entity is such a number, because the entity contains it.
   */
  readonly tagVersion?: number | undefined;
  /**
   * With `tagVersion`: the part of the key that distinguishes the bytes among all that one URL has ever had, because the whole key
   * takes longer to read. It is the id of an entity.
   */
  readonly tagKey?: string | undefined;
  readonly revision: number;
  /** Whether it is a page of a walk. Its revision is that of the walk, also when it is sent again at a later revision. */
  readonly isPage?: boolean;
  readonly contentType: string;
  /** Whether the body is too small to gain from compression. */
  readonly tiny?: boolean;
}

export interface Representation {
  readonly info: RepresentationInfo;
  /** The whole body if it is a short text that exists already, also as UTF-8. It is sent without steps, and is not rendered. */
  readonly text?: string | Uint8Array | undefined;
  render(): ResultOrSteps<Content>;
}

/** A representation whose body is a text that exists already. */
export class TextRepresentation implements Representation {
  readonly info: RepresentationInfo;
  readonly text: string | Uint8Array;

  constructor(info: RepresentationInfo, text: string | Uint8Array) {
    this.info = info;
    this.text = text;
  }

  render(): Content {
    return { chunks: typeof this.text === "string" ? this.text : [this.text] };
  }
}

/** A response to a read. */
export interface ReadResponse extends Response {
  /** Set if the response is a representation, so that the response cache may keep it. */
  readonly info?: RepresentationInfo;
}
