/** Whether a host, by name or address, is this machine. IPv6 addresses may have brackets, as in URLs. */
import { isIPv4 } from "node:net";

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
