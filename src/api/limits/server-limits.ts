/** The limits of the HTTP server, from the section `limits` of the configuration. */

/** Read at each use: the values change when the service reloads its configuration. */
export interface ServerLimits {
  readonly urlBytes: number;
  readonly headerBytes: number;
  readonly connections: number;
  readonly streamsPerUser: number;
  readonly pageLimit: number;
  readonly paths: number;
  readonly requestsPerSecond: number;
  readonly idleTimeoutSeconds: number;
  readonly minReadBytesPerSecond: number;
  readonly responseBytesPerUser: number;
  readonly responseBytes: number;
  readonly forwards: number;
  readonly forwardsPerUser: number;
}
