/**
 * The certificate, key and client authorities of the service, from the files of `tls`. The files are watched. A changed
 * pair that cannot be used is refused with a line in the log, and the one before stays, because a service without TLS
 * would be worse than one with an older certificate. Connections that are open keep the certificate they began with.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { open } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Config } from "../config/schema.ts";
import { LiveTlsIdentity, type TlsIdentity } from "../http1/tls-identity.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { FileWatcher } from "../lib/file-watcher.ts";
import type { Logger } from "../lib/logger.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const DAY_MS = 86_400_000;
const EXPIRY_WARNING_MS = 14 * DAY_MS;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The message is for the operator and names the file. */
export class TlsError extends Error {
  override readonly name = "TlsError";
}

interface TlsPaths {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | undefined;
}

interface LoadedTls {
  readonly identity: TlsIdentity;
  /** When the first certificate of the chain expires, in epoch milliseconds. */
  readonly expiresAt: number;
}

export interface TlsFiles {
  readonly identity: LiveTlsIdentity;
  readonly expiresAt: number;
  /** Watches the files, and warns of the expiry, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Undefined without TLS. Throws `TlsError`. */
export async function openTlsFiles(
  { tls }: Pick<Config, "tls">,
  clock: Clock,
  logger: Logger,
): Promise<TlsFiles | undefined> {
  const { cert, key, clientCa } = tls;
  if (cert === undefined || key === undefined) return undefined;
  const paths = { cert, key, clientCa };
  const files = [cert, key, clientCa].filter((path) => path !== undefined);
  const watchers = files.map((path) => new FileWatcher(path, clock));
  // Before the files are read, so that a change during the read is noticed later.
  for (const watcher of watchers) await watcher.acknowledge();
  let loaded = await loadTls(paths);
  const identity = new LiveTlsIdentity(loaded.identity);

  function warnOfExpiry(): void {
    const leftMs = loaded.expiresAt - clock.now();
    if (leftMs > EXPIRY_WARNING_MS) return;
    const expires = new Date(loaded.expiresAt).toISOString();
    if (leftMs <= 0) logger.error("certificate expired", { file: cert, expires });
    else logger.warn("certificate expires soon", { file: cert, expires, days: Math.floor(leftMs / DAY_MS) });
  }

  async function reload(): Promise<void> {
    try {
      const next = await loadTls(paths);
      if (isSameIdentity(next.identity, loaded.identity)) return;
      loaded = next;
    } catch (error) {
      if (!(error instanceof TlsError)) throw error;
      logger.error("certificate refused", { reason: error.message, kept: "the one before" });
      return;
    }
    logger.info("certificate read", { file: cert, expires: new Date(loaded.expiresAt).toISOString() });
    warnOfExpiry();
    identity.replace(loaded.identity);
  }

  async function warnDaily(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      warnOfExpiry();
      await clock.sleep(DAY_MS, signal);
    }
  }

  return {
    identity,
    get expiresAt() {
      return loaded.expiresAt;
    },
    async run(signal) {
      await Promise.all([...watchers.map((watcher) => watcher.run(reload, signal)), warnDaily(signal)]);
    },
  };
}

async function loadTls(paths: TlsPaths): Promise<LoadedTls> {
  const [cert, key] = [await readPem(paths.cert), await readPem(paths.key)];
  const clientCa = paths.clientCa === undefined ? undefined : await readPem(paths.clientCa);
  const chain = parseCertificates(paths.cert, cert);
  if (clientCa !== undefined && paths.clientCa !== undefined) parseCertificates(paths.clientCa, clientCa);
  const privateKey = orTlsError(paths.key, "has no private key in PEM without a passphrase", () =>
    createPrivateKey(key),
  );
  if (!chain[0]?.checkPrivateKey(privateKey)) {
    throw new TlsError(`${paths.key}: is not the key of the certificate in ${paths.cert}`);
  }
  orTlsError(paths.cert, "cannot be used", () => createSecureContext({ cert, key, ca: clientCa }));
  const identity = { cert, key, ...(clientCa !== undefined && { clientCa }) };
  return { identity, expiresAt: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))) };
}

/** At least one. */
function parseCertificates(path: string, text: string): X509Certificate[] {
  const blocks = text.match(PEM_CERTIFICATE);
  if (!blocks) throw new TlsError(`${path}: has no certificate in PEM`);
  return blocks.map((block) =>
    orTlsError(path, "has a malformed certificate", () => new X509Certificate(block)),
  );
}

async function readPem(path: string): Promise<string> {
  try {
    const handle = await open(path, "r");
    try {
      const { size } = await handle.stat();
      if (size > MAX_FILE_BYTES) throw new TlsError(`${path}: larger than ${MAX_FILE_BYTES} bytes`);
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof TlsError) throw error;
    throw new TlsError(`${path}: cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

function orTlsError<T>(path: string, fault: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new TlsError(`${path}: ${fault}: ${errorMessage(error)}`, { cause: error });
  }
}

const isSameIdentity = (a: TlsIdentity, b: TlsIdentity): boolean =>
  a.cert === b.cert && a.key === b.key && a.clientCa === b.clientCa;
