/** The names of what a cluster has in NATS. Two clusters on the same servers share nothing. */

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
  /** Subject of requests between nodes. */
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
