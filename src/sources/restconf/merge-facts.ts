/** Merges what several layers know about one entity: of each field and each annotation, the first that is given. */
interface Facts {
  readonly annotations?: Record<string, string>;
}

export function mergeFacts<T extends Facts>(
  layers: readonly T[],
): T & { annotations?: Record<string, string> };
export function mergeFacts(layers: readonly Facts[]): Facts {
  if (layers.length === 1) return { ...layers[0] };
  const annotations: Record<string, string> = {};
  const fields: Record<string, unknown> = {};
  // Not as arguments of one call: a peer may send more layers than a call may have arguments.
  for (const { annotations: own, ...others } of layers.toReversed()) {
    Object.assign(annotations, own);
    Object.assign(fields, others);
  }
  return Object.keys(annotations).length > 0 ? { ...fields, annotations } : fields;
}
