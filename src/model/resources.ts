/** The first segments of the paths that this service has itself, after the version. No controller can take their place. */
const RESOURCES: readonly string[] = ["devices", "links", "hosts", "topology", "paths"];

export const isOwnResource = (segment: string): boolean => RESOURCES.includes(segment);
