/**
 * Checks of the listening address together with TLS: the files of `tls` belong together, and passwords are not accepted
 * in plain text from other machines unless the operator says so.
 */
import { isLoopback } from "../lib/loopback.ts";
import type { ConfigFault } from "./faults.ts";
import type { Setting } from "./settings.ts";

export function checkTransport(settings: readonly Setting[]): ConfigFault[] {
  const find = (name: string) => settings.find(({ key }) => key.name === name);
  const [cert, key, clientCa] = [find("tls.cert"), find("tls.key"), find("tls.clientCa")];
  const fault = (setting: Setting | undefined, message: string): ConfigFault[] =>
    setting ? [{ origin: setting.origin, path: [], message }] : [];
  if (isSet(cert) && !isSet(key)) return fault(cert, "needs tls.key, the private key of this certificate");
  if (isSet(key) && !isSet(cert)) return fault(key, "needs tls.cert, the certificate of this key");
  if (isSet(clientCa) && !isSet(cert)) return fault(clientCa, "needs tls.cert and tls.key");
  const host = find("host");
  // Behind a trusted proxy, TLS ends at the proxy.
  const isAllowed = isSet(cert) || isSet(find("allowPlaintext")) || isSet(find("trustedProxies"));
  if (isAllowed || typeof host?.value !== "string" || isLoopback(host.value)) return [];
  return fault(
    host,
    `other machines can reach ${host.value}, and passwords would cross the network unencrypted; ` +
      "give --tls-cert and --tls-key, or trustedProxies behind a proxy, or --allow-plaintext",
  );
}

/** An empty list and `false` count as not set. */
export const isSet = (setting: Setting | undefined): boolean => {
  const value = setting?.value;
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
};
