/** The names of a cluster's streams, buckets and subjects in NATS. Clusters with different names share none of them. */

export interface ClusterNames {
  readonly stream: string;
  /** Subject of every message of the stream. */
  readonly subject: string;
  /** Name of the object store. */
  readonly snapshots: string;
  /** Names of the key-value buckets. */
  readonly leases: string;
  readonly nodes: string;
  readonly users: string;
  /** Subject of requests from the command line to the nodes. */
  readonly requests: string;
}

export const clusterNames = (name: string): ClusterNames => ({
  stream: `GAZETTEER_${name}`,
  subject: `gazetteer.${name}.log`,
  snapshots: `GAZETTEER_${name}_snapshots`,
  leases: `GAZETTEER_${name}_leases`,
  nodes: `GAZETTEER_${name}_nodes`,
  users: `GAZETTEER_${name}_users`,
  requests: `gazetteer.${name}.requests`,
});
