/** The limits of the HTTP server, from the section `limits` of the configuration. */

/** The longest path and query of a request, in bytes. */
export const MAX_TARGET_BYTES = 8192;

/** The configured limits. They must be read at each use, because a reload of the configuration changes them. */
export interface ServerLimits {
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
