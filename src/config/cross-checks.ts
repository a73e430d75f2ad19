/**
 * Checks that the schema cannot express, most of them over several keys, for each section in turn. Transport: the files of
 * `tls` belong together, and passwords are not accepted in plain text from other machines unless the operator allows it.
 */
import { basename } from "node:path";
import Value from "typebox/value";
import { isRecord } from "../lib/is-record.ts";
import { isLoopback } from "../lib/loopback.ts";
import { type NatsUrl, parseNatsUrl } from "../lib/nats-url.ts";
import type { KeyPath, SchemaFault } from "../lib/schema-faults.ts";
import { parseLinkTemplate } from "../model/link-template.ts";
import { MapLink } from "../model/map-settings.ts";
import { findViewFaults, MapView } from "../model/map-view.ts";
import { isOwnResource } from "../model/resources.ts";
import { checkSecretFiles, findSecretFaults, isReadableByOthers, readSecretFile } from "../sources/secret.ts";
import type { ConfigFault } from "./faults.ts";
import { MetricsServer } from "./map-schema.ts";
import type { Config } from "./schema.ts";
import { DEFAULT_ORIGIN, findSetting, isSet, listEntries, type Setting } from "./settings.ts";
import type { SourceContents } from "./sources.ts";

export function checkTransport(settings: readonly Setting[]): ConfigFault[] {
  const find = (name: string) => findSetting(settings, name);
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

/** Headers that have another meaning here or in HTTP. */
const OTHER_HEADERS = ["authorization", "connection", "cookie", "forwarded", "host", "x-forwarded-for"];

export function checkAuth(settings: readonly Setting[]): ConfigFault[] {
  const header = findSetting(settings, "auth.userHeader");
  if (!header || !isSet(header)) return [];
  const fault = (message: string): ConfigFault[] => [{ origin: header.origin, path: [], message }];
  if (OTHER_HEADERS.includes(String(header.value).toLowerCase()))
    return fault(
      "has another meaning; let the proxy send the user in a header of its own, such as X-Remote-User",
    );
  return isSet(findSetting(settings, "trustedProxies"))
    ? []
    : fault("needs trustedProxies, the addresses of the proxies that send it");
}

// Checks of `forward` over all sources: each resource is forwarded to one controller only and is not a resource of this
// service, and the alias under which it is requested is configured.

const FORWARDED_ALIAS = "onos";

export function checkForwarding(settings: readonly Setting[]): ConfigFault[] {
  const aliases = findSetting(settings, "aliases")?.value;
  const hasAlias = Array.isArray(aliases) && aliases.includes(FORWARDED_ALIAS);
  const forwardedBy = new Map<string, string>();
  const faults: ConfigFault[] = [];
  for (const { value: entry, faultAt } of listEntries(settings, "sources")) {
    if (!isRecord(entry) || entry.type !== "controller" || !Array.isArray(entry.forward)) continue;
    if (!hasAlias && entry.forward.length > 0) {
      const message = `needs the alias ${FORWARDED_ALIAS}, under which requests are forwarded (aliases: [${FORWARDED_ALIAS}])`;
      faults.push(faultAt({ path: ["forward"], message }));
    }
    for (const [position, resource] of entry.forward.entries()) {
      const message = forwardFault(String(resource), forwardedBy);
      if (message !== undefined) faults.push(faultAt({ path: ["forward", position], message }));
      else forwardedBy.set(String(resource), String(entry.name ?? entry.type));
    }
  }
  return faults;
}

function forwardFault(resource: string, forwardedBy: ReadonlyMap<string, string>): string | undefined {
  if (isOwnResource(resource)) return `${resource} cannot be forwarded: this service has it itself`;
  const other = forwardedBy.get(resource);
  return other === undefined ? undefined : `${resource} is already forwarded to the source ${other}`;
}

// The sections of the map: URL templates, secrets, and unique names. The settings have passed their schemas.

export function checkMap(settings: readonly Setting[]): ConfigFault[] {
  const [linkNames, metricNames, viewNames] = [new Set<string>(), new Set<string>(), new Set<string>()];
  return [
    ...faultsOf(settings, "links", (entry) =>
      Value.Check(MapLink, entry) ? linkFaults(entry, linkNames) : [],
    ),
    ...faultsOf(settings, "metrics", (entry) =>
      Value.Check(MetricsServer, entry) ? serverFaults(entry, metricNames) : [],
    ),
    ...faultsOf(settings, "views", (entry) =>
      Value.Check(MapView, entry)
        ? [...repeated(viewNames, entry.name, ["name"], "view"), ...findViewFaults(entry)]
        : [],
    ),
  ];
}

function linkFaults({ name, kind, url }: MapLink, names: Set<string>): SchemaFault[] {
  const parsed = parseLinkTemplate(url);
  const faults = repeated(names, `${kind} ${name}`, ["name"], `link of kind ${kind}`);
  return parsed.ok ? faults : [...faults, { path: ["url"], message: parsed.message }];
}

function serverFaults(server: MetricsServer, names: Set<string>): SchemaFault[] {
  const faults: SchemaFault[] = [...findSecretFaults(MetricsServer, server)];
  const given = (name: string) =>
    Object.keys(server).find((key) => [name, `${name}File`, `${name}Env`].includes(key));
  const [credentials, token] = [given("credentials"), given("token")];
  if (credentials !== undefined && token !== undefined)
    faults.push({
      path: [token],
      message: `only one of ${credentials} and ${token} can be given`,
      atKey: true,
    });
  for (const [index, { name }] of server.queries.entries())
    faults.push(...repeated(names, name, ["queries", index, "name"], "metric"));
  return faults;
}

/** Returns a fault if `names` has the name already; adds it otherwise. */
function repeated(names: Set<string>, name: string, path: KeyPath, what: string): SchemaFault[] {
  if (!names.has(name)) {
    names.add(name);
    return [];
  }
  return [{ path, message: `another ${what} has this name` }];
}

/** Checks the files that hold secrets, for `gazetteer check`. */
export async function checkMapFiles(settings: readonly Setting[]): Promise<SourceContents> {
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  for (const [index, { value, faultAt }] of listEntries(settings, "metrics").entries()) {
    const report = await checkSecretFiles(MetricsServer, value);
    faults.push(...report.faults.map(faultAt));
    warnings.push(...report.warnings.map((warning) => `metrics[${index}]: ${warning}`));
  }
  return { faults, warnings };
}

const faultsOf = (
  settings: readonly Setting[],
  name: string,
  check: (entry: unknown) => readonly SchemaFault[],
): ConfigFault[] => listEntries(settings, name).flatMap(({ value, faultAt }) => check(value).map(faultAt));

// The section `cluster`: connections to NATS servers on other machines are encrypted and authenticated, and every cluster has a
// secret. The secret is required for local servers too, because a local server may be one of several, and may have other
// clients. `gazetteer check` checks the files, and the start reads them.

/** Minimum length of the secret. A shorter one could be guessed by anyone who reads values that are sealed with it. */
const MIN_SECRET_CHARACTERS = 16;
const MAKE_SECRET = "openssl rand -base64 32 > FILE makes one";
const NO_SECRET =
  "a cluster needs cluster.secretFile, the same on all nodes: without it every client of NATS could read password hashes " +
  `and change the network; ${MAKE_SECRET}. For a cluster that has none yet see docs/cluster.md, "Changing the secret"`;

const TWO_LOGINS =
  "excludes a user in the addresses of cluster.servers: a credentials file is for NATS servers with an operator, a user " +
  "for servers that have users in their own file; remove one of them";

export const isClustered = ({ cluster }: Pick<Config, "cluster">): boolean => cluster.servers.length > 0;

const settingsBy = (settings: readonly Setting[]) => (name: string) =>
  findSetting(settings, `cluster.${name}`);

export function checkCluster(settings: readonly Setting[]): ConfigFault[] {
  const find = settingsBy(settings);
  const servers = find("servers");
  const faults: ConfigFault[] = [];
  const parsed: NatsUrl[] = [];
  for (const [index, text] of Array.isArray(servers?.value) ? servers.value.entries() : []) {
    const origin = servers?.itemOrigins[index] ?? DEFAULT_ORIGIN;
    const prefix = origin.kind === "file" ? [] : [index];
    const message = faultOf(String(text), parsed, find);
    if (message !== undefined) faults.push({ origin, path: prefix, message });
  }
  const [credentials, cert, key] = [find("credentialsFile"), find("tls.cert"), find("tls.key")];
  const refuse = (setting: Setting | undefined, isWrong: boolean, message: string) => {
    if (setting && isSet(setting) && isWrong) faults.push({ origin: setting.origin, path: [], message });
  };
  refuse(
    servers && { ...servers, origin: servers.itemOrigins[0] ?? servers.origin },
    !isSet(find("secretFile")),
    NO_SECRET,
  );
  refuse(
    credentials,
    parsed.some(({ login }) => login !== undefined),
    TWO_LOGINS,
  );
  refuse(cert, !isSet(key), "needs cluster.tls.key, its private key");
  refuse(key, !isSet(cert), "needs cluster.tls.cert, the certificate of this key");
  return faults;
}

/** Returns the fault of an address, if any. Appends the address to `parsed`, which has the addresses before it. */
function faultOf(
  text: string,
  parsed: NatsUrl[],
  find: (name: string) => Setting | undefined,
): string | undefined {
  let server: NatsUrl;
  try {
    server = parseNatsUrl(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  parsed.push(server);
  const [first = server] = parsed;
  if (JSON.stringify(server.login) !== JSON.stringify(first.login))
    return "the user and password must be the same in all addresses";
  if (isLoopback(server.hostname)) return undefined;
  const { address } = server;
  const hasTls = server.isTls || isSet(find("tls.ca")) || isSet(find("tls.cert"));
  if (!hasTls && !isSet(find("allowPlaintext")))
    return `${address} is another machine, and the network would be sent to it unencrypted; write tls:// or give cluster.tls.ca, or cluster.allowPlaintext: true`;
  if (!server.login && !isSet(find("credentialsFile")) && !isSet(find("tls.cert")))
    return `${address} is another machine, and anybody who reaches it could write; give cluster.credentialsFile, or cluster.tls.cert and key, or tls://USER:PASSWORD@HOST`;
  return undefined;
}

/** Checks the files of the section, for `gazetteer check`. */
export async function checkClusterFiles(settings: readonly Setting[]): Promise<SourceContents> {
  const find = settingsBy(settings);
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  if (!isSet(find("servers"))) return { faults, warnings };
  for (const name of ["credentialsFile", "secretFile", "tls.key"]) {
    const setting = find(name);
    if (typeof setting?.value !== "string") continue;
    const read = await readSecretFile(setting.value);
    const message = read.ok ? name === "secretFile" && secretFault(read.value ?? "") : read.message;
    if (message) faults.push({ origin: setting.origin, path: [], message });
    if (await isReadableByOthers(setting.value)) {
      const file = basename(setting.value);
      warnings.push(`cluster.${name}: ${file} can be read by other users of this machine (chmod 600)`);
    }
  }
  return { faults, warnings };
}

/** The reason why the content of `cluster.secretFile` cannot be used; undefined if it can. */
export const secretFault = (secret: string): string | undefined =>
  secret.trim().length < MIN_SECRET_CHARACTERS
    ? `the secret of the cluster is shorter than ${MIN_SECRET_CHARACTERS} characters; ${MAKE_SECRET}`
    : undefined;
