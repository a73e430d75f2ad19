/** The messages between the page and its layout worker. Large arrays are typed arrays, because those are cheap to copy. */
export interface MapNode {
  readonly id: string;
  /** The layer that an annotation names, 0 at the top. */
  readonly layer?: number;
  /** Where an annotation places the device: degrees of longitude and projected latitude, or x and y; y downwards. */
  readonly location?: { readonly x: number; readonly y: number };
  readonly site?: string;
}

export interface LayoutRequest {
  readonly sequence: number;
  readonly nodes: readonly MapNode[];
  /** Pairs of indexes into `nodes`, flat, each pair once. */
  readonly edges: Uint32Array;
}

export interface LayoutResponse {
  /** That of the request. */
  readonly sequence: number;
  /** x and y of each node, flat, y downwards. */
  readonly positions: Float64Array;
  /** For each node the index of its cluster. */
  readonly clusterOf: Uint32Array;
}
