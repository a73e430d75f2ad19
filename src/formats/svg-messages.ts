/** The messages between the service and the thread that draws (`svg-thread.ts`, `svg-worker.ts`). Bytes are transferred. */
import type { Device, Link, Topology } from "../model/entity.ts";

/** JSON arrays of these, in batches, are what a drawing is made of. */
export interface DrawingParts {
  readonly devices: readonly [device: Device, hosts: number];
  readonly links: Link;
}
export type DrawingPart = keyof DrawingParts;

/** `id` is that of the drawing. */
export type SvgRequest =
  | {
      readonly op: "add";
      readonly id: number;
      readonly part: DrawingPart;
      readonly json: Uint8Array<ArrayBuffer>;
    }
  | { readonly op: "draw"; readonly id: number; readonly topology: Topology; readonly revision: number }
  /** One more chunk may be sent. */
  | { readonly op: "next"; readonly id: number }
  | { readonly op: "drop"; readonly id: number };

export type SvgReply =
  /** The length of the document. Its chunks are sent on request. */
  | { readonly type: "drawn"; readonly id: number; readonly bytes: number }
  | { readonly type: "chunk"; readonly id: number; readonly chunk: Uint8Array<ArrayBuffer> }
  | { readonly type: "failed"; readonly id: number; readonly reason: string };
