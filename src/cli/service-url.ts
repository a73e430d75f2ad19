/**
 * Decides which service a command reads from, and with which credentials. The address is that of `--url`, else of `--server
 * NAME`, else GAZETTEER_URL, else the current server of the servers file, else this machine. The credentials are those in
 * the address, else those (or the certificate) stored for the server that `--server` names, else GAZETTEER_CREDENTIALS, else
 * those stored for the origin of the address.
 *
 * The result names the origin of both, so that an error message can say what to correct.
 *
 * The servers file is what `gazetteer login` stored: addresses, credentials, and which one is current. It is
 * `$XDG_CONFIG_HOME/gazetteer/servers.json` (`~/.config` when the variable is not set), mode 0600, because it holds
 * passwords. Each password belongs to the origin (scheme, host, port) of its address and is looked up by that origin,
 * so another address can never receive it.
 */
import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import Type from "typebox";
import { decodePercent } from "../client/address.ts";
import type { Fetch } from "../client/client.ts";
import { parseToken } from "../lib/access-token.ts";
import { errorMessage } from "../lib/error-message.ts";
import { nearest } from "../lib/nearest.ts";
import { READ_NO_FOLLOW, replaceFile, withPinnedFile } from "../lib/replace-file.ts";
import { type Arguments, type Context, type Flag, usageFailure } from "./command.ts";

// HTTPS: a private authority to trust, and a client certificate. Without either, the runtime trusts the authorities of the
// system and those of NODE_EXTRA_CA_CERTS.

/** Paths of PEM files, as `gazetteer login` stores them. */
export const TlsFiles = Type.Object({
  cacert: Type.Optional(Type.String()),
  cert: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
});
export type TlsFiles = Type.Static<typeof TlsFiles>;

export const TLS_FLAGS: readonly Flag[] = [
  {
    name: "cacert",
    value: "FILE",
    help: "Trust the authorities in this file (PEM) instead of the system's.",
  },
  { name: "cert", value: "FILE", help: "Client certificate (PEM). Needs --key." },
  { name: "key", value: "FILE", help: "Private key of the client certificate (PEM)." },
];

/** Returns undefined when no flag is given. Paths are made absolute, so that they can be stored. */
export function tlsFilesOf(args: Arguments): TlsFiles | undefined {
  const [cacert, cert, key] = ["cacert", "cert", "key"].map((name) => {
    const path = args.one(name);
    return path === undefined ? undefined : resolve(path);
  });
  if ((cert === undefined) !== (key === undefined)) throw usageFailure("--cert and --key go together");
  if (cacert === undefined && cert === undefined) return undefined;
  return {
    ...(cacert !== undefined && { cacert }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

/** Returns undefined without files; the client then uses the `fetch` of the runtime. */
export async function createTlsFetch(files: TlsFiles | undefined): Promise<Fetch | undefined> {
  if (!files) return undefined;
  const [ca, cert, key] = await Promise.all([files.cacert, files.cert, files.key].map(readPem));
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return (url, init) => fetch(url, { ...init, tls });
}

async function readPem(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usageFailure(`${path} cannot be read: ${errorMessage(error)}`);
  }
}

const StoredServer = Type.Object({
  /** The address of the service, without credentials. */
  url: Type.String(),
  /** The credentials as `NAME:PASSWORD`, or a token. */
  credentials: Type.Optional(Type.String()),
  /** The paths of the TLS files for https. */
  tls: Type.Optional(TlsFiles),
});
export type StoredServer = Type.Static<typeof StoredServer>;

const StoredServers = Type.Object({
  current: Type.Optional(Type.String()),
  servers: Type.Record(Type.String(), StoredServer),
});
export type StoredServers = Type.Static<typeof StoredServers>;

/** A relative XDG_CONFIG_HOME is not valid by its specification and is ignored. */
export function serversPath(env: Context["env"]): string {
  const configured = env.XDG_CONFIG_HOME ?? "";
  const folder = isAbsolute(configured) ? configured : join(env.HOME || homedir(), ".config");
  return join(folder, "gazetteer", "servers.json");
}

/** Returns no servers if there is no file. */
export async function readServers(path: string): Promise<StoredServers> {
  let text: string;
  try {
    text = await withPinnedFile(path, (file) => readFile(file, { encoding: "utf8", flag: READ_NO_FOLLOW }));
  } catch (error) {
    if (isMissing(error)) return { servers: {} };
    throw usageFailure(`${path} cannot be read: ${errorMessage(error)}`);
  }
  // The library is imported only when there is a file to check.
  const { default: Value } = await import("typebox/value");
  const stored = parseJson(text);
  if (Value.Check(StoredServers, stored)) return stored;
  throw usageFailure(`${path} is not a file of servers; correct or remove it, then run gazetteer login URL`);
}

/** Replaces the file atomically. If the path is a symbolic link, the file that it points to is replaced. */
export async function writeServers(path: string, stored: StoredServers): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await withPinnedFile(path, (file) => replaceFile(file, `${JSON.stringify(stored, null, 2)}\n`));
  } catch (error) {
    throw usageFailure(`${path} cannot be written: ${errorMessage(error)}`);
  }
}

/** The server stored for the origin of `url`; if several have this origin, the one with the name `preferred`. */
export function storedServer(
  { servers }: StoredServers,
  url: URL,
  preferred: string | undefined,
): StoredServer | undefined {
  const entries = Object.entries(servers).filter(
    ([, server]) => URL.parse(server.url)?.origin === url.origin,
  );
  const [, server] = entries.find(([name]) => name === preferred) ?? entries[0] ?? [];
  return server;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const DEFAULT_URL = "http://127.0.0.1:8181";

/** `URL` is the operand of `gazetteer login`. */
export type AddressOrigin = "--url" | "--server" | "GAZETTEER_URL" | "current server" | "default" | "URL";
export type CredentialsOrigin = "address" | "GAZETTEER_CREDENTIALS" | "servers file" | "login" | "none";

export interface ServiceTarget {
  readonly url: URL;
  readonly urlFrom: AddressOrigin;
  /** The credentials as `NAME:PASSWORD`, or a token. */
  readonly credentials: string | undefined;
  readonly credentialsFrom: CredentialsOrigin;
  readonly tlsFiles?: TlsFiles | undefined;
}

export interface AddressFlags {
  readonly url: string | undefined;
  readonly server: string | undefined;
  readonly tlsFiles?: TlsFiles | undefined;
}

/** `readStored` is called only if the servers file is needed, so that a broken file does not affect other addresses. */
export async function resolveServiceAddress(
  flags: AddressFlags,
  env: Context["env"],
  readStored: () => Promise<StoredServers>,
): Promise<ServiceTarget> {
  const { text, urlFrom, server } = await chooseAddress(flags, env, readStored);
  const { url, credentials: inUrl } = parseServiceUrl(text, urlFrom);
  const readServer = async () => {
    const stored = await readStored();
    return storedServer(stored, url, server ?? stored.current);
  };
  const isTlsStored = flags.tlsFiles === undefined && url.protocol === "https:";
  const tlsFiles = isTlsStored ? (await readServer())?.tls : flags.tlsFiles;
  const address = { url, urlFrom, tlsFiles };
  if (inUrl !== undefined) return { ...address, credentials: inUrl, credentialsFrom: "address" };
  if (urlFrom === "--server") {
    const named = await readServer();
    if (named?.credentials !== undefined || named?.tls?.cert !== undefined)
      return { ...address, credentials: named.credentials, credentialsFrom: "servers file" };
  }
  const inEnvironment = environmentCredentials(env);
  if (inEnvironment !== undefined) {
    return { ...address, credentials: inEnvironment, credentialsFrom: "GAZETTEER_CREDENTIALS" };
  }
  const credentials = (await readServer())?.credentials;
  return { ...address, credentials, credentialsFrom: credentials === undefined ? "none" : "servers file" };
}

interface ChosenAddress {
  readonly text: string;
  readonly urlFrom: AddressOrigin;
  /** The name of the server in the servers file. */
  readonly server?: string;
}

async function chooseAddress(
  flags: AddressFlags,
  env: Context["env"],
  readStored: () => Promise<StoredServers>,
): Promise<ChosenAddress> {
  if (flags.url !== undefined) return { text: flags.url, urlFrom: "--url" };
  if (flags.server !== undefined) {
    return { text: urlOfServer(await readStored(), flags.server), urlFrom: "--server", server: flags.server };
  }
  if (env.GAZETTEER_URL) return { text: env.GAZETTEER_URL, urlFrom: "GAZETTEER_URL" };
  const stored = await readStored();
  if (stored.current === undefined) return { text: DEFAULT_URL, urlFrom: "default" };
  return { text: urlOfServer(stored, stored.current), urlFrom: "current server", server: stored.current };
}

export function urlOfServer({ servers }: StoredServers, name: string): string {
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server) return server.url;
  const names = Object.keys(servers);
  const near = nearest(name, names);
  const hint =
    names.length === 0
      ? "none is stored: run gazetteer login URL"
      : near === undefined
        ? `there are ${names.join(", ")}`
        : `did you mean ${near}?`;
  throw usageFailure(`there is no server ${JSON.stringify(name)}; ${hint}`);
}

/** The scheme may be left out. `from` names the source of the text in a failure. */
export function parseServiceUrl(
  text: string,
  from: string,
): { readonly url: URL; readonly credentials: string | undefined } {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageFailure(
      `${from} ${JSON.stringify(text)} is not an http or https address such as ${DEFAULT_URL}`,
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw usageFailure(`${from} is the address of the service; queries are given as NAME=VALUE`);
  }
  const credentials =
    url.username === "" ? undefined : `${decodePercent(url.username)}:${decodePercent(url.password)}`;
  return { url, credentials };
}

export function environmentCredentials({ GAZETTEER_CREDENTIALS: text }: Context["env"]): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (!text.includes(":") && !parseToken(text))
    throw usageFailure("GAZETTEER_CREDENTIALS must be <USERNAME>:<PASSWORD>, or a token");
  return text;
}

/** The name of the user whose credentials these are. */
export const userOf = (credentials: string): string =>
  parseToken(credentials)?.name ?? credentials.slice(0, Math.max(0, credentials.indexOf(":")));
