/**
 * Checks that involve several keys. Transport: the files of `tls` belong together, and passwords are not accepted in plain
 * text from other machines unless the operator allows it. Forwarding: see `checkForwarding`.
 */

import { isRecord } from "../lib/is-record.ts";
import { isLoopback } from "../lib/loopback.ts";
import { isOwnResource } from "../model/resources.ts";
import type { ConfigFault } from "./faults.ts";
import { DEFAULT_ORIGIN, type Setting } from "./settings.ts";

export function checkTransport(settings: readonly Setting[]): ConfigFault[] {
  const find = (name: string) => settings.find(({ key }) => key.name === name);
  const [cert, key, clientCa] = [find("tls.cert"), find("tls.key"), find("tls.clientCa")];
  const fault = (setting: Setting | undefined, message: string): ConfigFault[] =>
    setting ? [{ origin: setting.origin, path: [], message }] : [];
  if (isSet(cert) && !isSet(key)) return fault(cert, "needs tls.key, the private key of this certificate");
  if (isSet(key) && !isSet(cert)) return fault(key, "needs tls.cert, the certificate of this key");
  if (isSet(clientCa) && !isSet(cert)) return fault(clientCa, "needs tls.cert and tls.key");
  const host = find("host");
  // With trusted proxies, TLS ends at the proxy.
  const isAllowed = isSet(cert) || isSet(find("allowPlaintext")) || isSet(find("trustedProxies"));
  if (isAllowed || typeof host?.value !== "string" || isLoopback(host.value)) return [];
  return fault(
    host,
    `other machines can reach ${host.value}, and passwords would cross the network unencrypted; ` +
      "give --tls-cert and --tls-key, or trustedProxies behind a proxy, or --allow-plaintext",
  );
}

/** Whether a setting has a value. An empty list and `false` count as not set. */
export const isSet = (setting: Setting | undefined): boolean => {
  const value = setting?.value;
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
};

// Checks of `forward` over all sources: each resource is forwarded to one controller only and is not a resource of this
// service, and the alias under which it is requested is configured.

const FORWARDED_ALIAS = "onos";

export function checkForwarding(settings: readonly Setting[]): ConfigFault[] {
  const settingOf = (name: string) => settings.find(({ key }) => key.name === name);
  const aliases = settingOf("aliases")?.value;
  const hasAlias = Array.isArray(aliases) && aliases.includes(FORWARDED_ALIAS);
  const sources = settingOf("sources");
  const forwardedBy = new Map<string, string>();
  const faults: ConfigFault[] = [];
  for (const [index, entry] of Array.isArray(sources?.value) ? sources.value.entries() : []) {
    if (!isRecord(entry) || entry.type !== "controller" || !Array.isArray(entry.forward)) continue;
    const origin = sources?.itemOrigins[index] ?? DEFAULT_ORIGIN;
    const prefix = origin.kind === "environment" ? [index, "forward"] : ["forward"];
    const source = String(entry.name ?? entry.type);
    if (!hasAlias && entry.forward.length > 0) {
      const message = `needs the alias ${FORWARDED_ALIAS}, under which requests are forwarded (aliases: [${FORWARDED_ALIAS}])`;
      faults.push({ origin, path: prefix, message });
    }
    for (const [position, resource] of entry.forward.entries()) {
      const message = faultOf(String(resource), forwardedBy);
      if (message !== undefined) faults.push({ origin, path: [...prefix, position], message });
      else forwardedBy.set(String(resource), source);
    }
  }
  return faults;
}

function faultOf(resource: string, forwardedBy: ReadonlyMap<string, string>): string | undefined {
  if (isOwnResource(resource)) return `${resource} cannot be forwarded: this service has it itself`;
  const other = forwardedBy.get(resource);
  return other === undefined ? undefined : `${resource} is already forwarded to the source ${other}`;
}
