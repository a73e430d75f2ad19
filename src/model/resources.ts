/** The first path segments after the version that this service serves itself. A controller cannot override them. */
export const OWN_RESOURCES: readonly string[] = ["devices", "links", "hosts", "topology", "paths"];

export const isOwnResource = (segment: string): boolean => OWN_RESOURCES.includes(segment);
