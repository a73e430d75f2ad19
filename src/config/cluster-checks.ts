/**
 * Checks of the section `cluster`: connections to NATS servers on other machines are encrypted and authenticated, and every
 * cluster has a secret. The secret is required for local servers too, because a local server may be one of several, and may
 * have other clients. `gazetteer check` checks the files, and the start reads them.
 */
import { basename } from "node:path";
import { isLoopback } from "../lib/loopback.ts";
import { type NatsUrl, parseNatsUrl } from "../lib/nats-url.ts";
import { isReadableByOthers, readSecretFile } from "../sources/secret.ts";
import { isSet } from "./cross-checks.ts";
import type { ConfigFault } from "./faults.ts";
import type { Config } from "./schema.ts";
import { DEFAULT_ORIGIN, type Setting } from "./settings.ts";
import type { SourceContents } from "./sources.ts";

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
  settings.find(({ key }) => key.name === `cluster.${name}`);

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
  if (servers && isSet(servers) && !isSet(find("secretFile")))
    faults.push({ origin: servers.itemOrigins[0] ?? servers.origin, path: [], message: NO_SECRET });
  const credentials = find("credentialsFile");
  if (credentials && isSet(credentials) && parsed.some(({ login }) => login))
    faults.push({ origin: credentials.origin, path: [], message: TWO_LOGINS });
  const [cert, key] = [find("tls.cert"), find("tls.key")];
  if (cert && isSet(cert) && !isSet(key))
    faults.push({ origin: cert.origin, path: [], message: "needs cluster.tls.key, its private key" });
  if (key && isSet(key) && !isSet(cert))
    faults.push({
      origin: key.origin,
      path: [],
      message: "needs cluster.tls.cert, the certificate of this key",
    });
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
