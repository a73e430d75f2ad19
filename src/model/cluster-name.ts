/** The pattern of the name of a cluster or node: it becomes a part of subjects and of the names of streams and buckets. */
export const CLUSTER_NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$";
