/** The pattern of the name of a cluster or node. The name becomes a part of NATS subjects, streams and buckets. */
export const CLUSTER_NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$";
