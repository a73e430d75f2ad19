/**
 * A certificate, its key and the authorities for the peers' certificates, from files that are followed. A changed pair that
 * cannot be used is refused with a line in the log, and the one before stays.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Clock } from "./clock.ts";
import { errorMessage } from "./error-message.ts";
import { FileWatcher } from "./file-watcher.ts";
import type { Logger } from "./logger.ts";

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

/** PEM texts. */
export interface Certificates {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
}

export class CertificateFiles {
  /** Those that were last found valid. */
  current: Certificates;
  readonly #paths: CertificatePaths;
  readonly #watchers: readonly FileWatcher[];
  readonly #log: Logger;

  private constructor(
    paths: CertificatePaths,
    watchers: readonly FileWatcher[],
    current: Certificates,
    log: Logger,
  ) {
    this.#paths = paths;
    this.#watchers = watchers;
    this.current = current;
    this.#log = log;
  }

  /** Throws `CertificateError`. */
  static async open(paths: CertificatePaths, clock: Clock, log: Logger): Promise<CertificateFiles> {
    const files = [paths.cert, paths.key, paths.ca].filter((path) => path !== undefined);
    const watchers = files.map((path) => new FileWatcher(path, clock));
    // Before the files are read, so that a change during the read is noticed later.
    for (const watcher of watchers) await watcher.acknowledge();
    return new CertificateFiles(paths, watchers, await loadCertificates(paths), log);
  }

  /** Follows the files until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#watchers.map((watcher) => watcher.run(() => this.#reload(), signal)));
  }

  async #reload(): Promise<void> {
    const { cert: file } = this.#paths;
    try {
      const next = await loadCertificates(this.#paths);
      const { cert, key, ca } = this.current;
      if (next.cert === cert && next.key === key && next.ca === ca) return;
      this.current = next;
      this.#log.info("certificate read", { file });
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      this.#log.error("certificate refused", { reason: error.message, kept: "the one before" });
    }
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
  return { cert, key, ca };
}

function parseCertificates(path: string, text: string): X509Certificate[] {
  const blocks = text.match(PEM_CERTIFICATE);
  if (!blocks) throw new CertificateError(`${path}: has no certificate in PEM`);
  return blocks.map((block) =>
    orFault(path, "has a malformed certificate", () => new X509Certificate(block)),
  );
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
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
