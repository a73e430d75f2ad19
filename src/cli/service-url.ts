/**
 * Decides which service a command reads from, and with which credentials. The address is that of `--url`, else of `--server
 * NAME`, else GAZETTEER_URL, else the current server of the servers file, else this machine. The credentials are those in
 * the address, else those (or the certificate) stored for the server that `--server` names, else GAZETTEER_CREDENTIALS, else
 * those stored for the origin of the address.
 *
 * The result names the origin of both, so that an error message can say what to correct.
 */
import { nearest } from "../lib/nearest.ts";
import type { TlsFiles } from "./client-tls.ts";
import type { Context } from "./command.ts";
import { usageFailure } from "./failure.ts";
import { type StoredServers, storedServer } from "./servers-file.ts";

export const DEFAULT_URL = "http://127.0.0.1:8181";

/** `URL` is the operand of `gazetteer login`. */
export type AddressOrigin = "--url" | "--server" | "GAZETTEER_URL" | "current server" | "default" | "URL";
export type CredentialsOrigin = "address" | "GAZETTEER_CREDENTIALS" | "servers file" | "login" | "none";

export interface ServiceTarget {
  readonly url: URL;
  readonly urlFrom: AddressOrigin;
  /** The credentials as `NAME:PASSWORD`. */
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
    url.username === "" ? undefined : `${decodeUserInfo(url.username)}:${decodeUserInfo(url.password)}`;
  return { url, credentials };
}

export function environmentCredentials({ GAZETTEER_CREDENTIALS: text }: Context["env"]): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (!text.includes(":")) throw usageFailure("GAZETTEER_CREDENTIALS must be <USERNAME>:<PASSWORD>");
  return text;
}

/** Returns the text unchanged if it is not valid percent-encoding. */
function decodeUserInfo(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
