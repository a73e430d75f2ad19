/** What the page and its layout worker say to each other. Plain values, and large ones as arrays of numbers. */
export interface MapNode {
  readonly id: string;
  /** 0 on top, when the network says so. */
  readonly layer?: number;
  /** A place somebody gave it: degrees east and north, or a drawing's x and y, y downwards in both. */
  readonly place?: { readonly x: number; readonly y: number };
  /** What it says it belongs to, such as a site. */
  readonly group?: string;
}

export interface LayoutRequest {
  readonly sequence: number;
  readonly nodes: readonly MapNode[];
  /** Pairs of indexes into `nodes`, flat, each pair once. */
  readonly edges: Uint32Array;
}

export interface LayoutAnswer {
  readonly sequence: number;
  /** x and y of each node, flat, y downwards. */
  readonly positions: Float64Array;
  /** For each node the index of its block. */
  readonly blockOf: Uint32Array;
}
