/**
 * The file of services that `gazetteer login` stored: addresses, credentials, and which one is current. It is
 * `$XDG_CONFIG_HOME/gazetteer/servers.json` (`~/.config` when the variable is not set), mode 0600, because it holds
 * passwords. Each password belongs to the origin (scheme, host, port) of its address and is looked up by that origin,
 * so another address can never receive it.
 */
import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import Type from "typebox";
import { errorMessage } from "../lib/error-message.ts";
import { READ_NO_FOLLOW, replaceFile, withPinnedFile } from "../lib/replace-file.ts";
import { TlsFiles } from "./client-tls.ts";
import type { Context } from "./command.ts";
import { usageFailure } from "./failure.ts";

const StoredServer = Type.Object({
  /** The address of the service, without credentials. */
  url: Type.String(),
  /** The credentials as `NAME:PASSWORD`. */
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
