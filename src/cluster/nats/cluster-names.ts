/** The names of what a cluster has in NATS. Two clusters on one engine share nothing. */

export interface ClusterNames {
  readonly stream: string;
  /** Of every message of the stream. */
  readonly subject: string;
  /** Object store. */
  readonly snapshots: string;
  /** Key-value buckets. */
  readonly leases: string;
  readonly nodes: string;
  readonly users: string;
  /** Of requests between nodes. */
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
