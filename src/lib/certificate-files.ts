/**
 * A certificate, its key and the authorities for the peers' certificates, from files that are watched. A changed pair that
 * cannot be used is refused with a line in the log, and the previous one stays, because a listener without TLS would be
 * worse than one with an older certificate. The log warns before the certificate expires.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { open } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock } from "./clock.ts";
import { errorMessage } from "./error-message.ts";
import { FileWatcher } from "./file-watcher.ts";
import type { Logger } from "./logger.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const DAY_MS = 86_400_000;
const EXPIRY_WARNING_MS = 14 * DAY_MS;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The message is for the operator and names the file. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

export interface CertificatePaths {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string | undefined;
}

/** The contents of the files, as PEM texts. */
export interface Certificates {
  /** The certificate, followed by those of intermediate authorities. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
  /** The earliest expiry of the certificates in the chain, in epoch milliseconds. */
  readonly expiresAt: number;
}

export class CertificateFiles {
  readonly #paths: CertificatePaths;
  readonly #watchers: readonly FileWatcher[];
  readonly #clock: Clock;
  readonly #log: Logger;
  #current: Certificates;

  private constructor(
    paths: CertificatePaths,
    watchers: readonly FileWatcher[],
    current: Certificates,
    clock: Clock,
    log: Logger,
  ) {
    this.#paths = paths;
    this.#watchers = watchers;
    this.#current = current;
    this.#clock = clock;
    this.#log = log;
  }

  /** Throws `CertificateError`. */
  static async open(paths: CertificatePaths, clock: Clock, log: Logger): Promise<CertificateFiles> {
    const files = [paths.cert, paths.key, paths.ca].filter((path) => path !== undefined);
    const watchers = files.map((path) => new FileWatcher(path, clock));
    // The watchers start before the files are read, so that a change during the read is noticed later.
    for (const watcher of watchers) await watcher.acknowledge();
    return new CertificateFiles(paths, watchers, await loadCertificates(paths), clock, log);
  }

  /** The certificates that were last found valid. */
  get current(): Certificates {
    return this.#current;
  }

  /** Watches the files and warns of the expiry until the signal aborts. */
  async run(signal: AbortSignal, onChange: (certificates: Certificates) => void = () => {}): Promise<void> {
    const reload = () => this.#reload(onChange);
    await Promise.all([
      ...this.#watchers.map((watcher) => watcher.run(reload, signal)),
      this.#warnDaily(signal),
    ]);
  }

  async #reload(onChange: (certificates: Certificates) => void): Promise<void> {
    try {
      const next = await loadCertificates(this.#paths);
      const { cert, key, ca } = this.#current;
      if (next.cert === cert && next.key === key && next.ca === ca) return;
      this.#current = next;
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      this.#log.error("certificate refused", { reason: error.message, kept: "the one before" });
      return;
    }
    const expires = new Date(this.#current.expiresAt).toISOString();
    this.#log.info("certificate read", { file: this.#paths.cert, expires });
    this.#warnOfExpiry();
    onChange(this.#current);
  }

  async #warnDaily(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#warnOfExpiry();
      await this.#clock.sleep(DAY_MS, signal);
    }
  }

  #warnOfExpiry(): void {
    const { expiresAt } = this.#current;
    const leftMs = expiresAt - this.#clock.now();
    if (leftMs > EXPIRY_WARNING_MS) return;
    const fields = { file: this.#paths.cert, expires: new Date(expiresAt).toISOString() };
    if (leftMs <= 0) this.#log.error("certificate expired", fields);
    else this.#log.warn("certificate expires soon", { ...fields, days: Math.floor(leftMs / DAY_MS) });
  }
}

async function loadCertificates(paths: CertificatePaths): Promise<Certificates> {
  const [cert, key] = [await readPem(paths.cert), await readPem(paths.key)];
  const ca = paths.ca === undefined ? undefined : await readPem(paths.ca);
  const chain = parseCertificates(paths.cert, cert);
  if (paths.ca !== undefined && ca !== undefined) parseCertificates(paths.ca, ca);
  const privateKey = orFault(paths.key, "has no private key in PEM without a passphrase", () =>
    createPrivateKey(key),
  );
  if (!chain[0]?.checkPrivateKey(privateKey))
    throw new CertificateError(`${paths.key}: is not the key of the certificate in ${paths.cert}`);
  orFault(paths.cert, "cannot be used", () => createSecureContext({ cert, key, ca }));
  return { cert, key, ca, expiresAt: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))) };
}

/** Returns at least one certificate, or throws. */
function parseCertificates(path: string, text: string): X509Certificate[] {
  const blocks = text.match(PEM_CERTIFICATE);
  if (!blocks) throw new CertificateError(`${path}: has no certificate in PEM`);
  return blocks.map((block) =>
    orFault(path, "has a malformed certificate", () => new X509Certificate(block)),
  );
}

async function readPem(path: string): Promise<string> {
  try {
    const handle = await open(path, "r");
    try {
      const { size } = await handle.stat();
      if (size > MAX_FILE_BYTES) throw new CertificateError(`${path}: larger than ${MAX_FILE_BYTES} bytes`);
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof CertificateError) throw error;
    throw new CertificateError(`${path}: cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

function orFault<T>(path: string, fault: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CertificateError(`${path}: ${fault}: ${errorMessage(error)}`, { cause: error });
  }
}
