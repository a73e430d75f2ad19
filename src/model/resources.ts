/** The first segments of the paths that this service has itself, after the version. No controller can take their place. */
export const OWN_RESOURCES: readonly string[] = ["devices", "links", "hosts", "topology", "paths"];

export const isOwnResource = (segment: string): boolean => OWN_RESOURCES.includes(segment);
