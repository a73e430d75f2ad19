/** Merges what several layers know about one entity: of each field and each annotation, the first that is given. */
interface Facts {
  readonly annotations?: Record<string, string>;
}

export function mergeFacts<T extends Facts>(
  layers: readonly T[],
): T & { annotations?: Record<string, string> };
export function mergeFacts(layers: readonly Facts[]): Facts {
  if (layers.length === 1) return { ...layers[0] };
  const annotations = Object.assign({}, ...layers.map((layer) => layer.annotations ?? {}).reverse());
  const facts: Facts = Object.assign({}, ...[...layers].reverse());
  const { annotations: _, ...fields } = facts;
  return Object.keys(annotations).length > 0 ? { ...fields, annotations } : fields;
}
