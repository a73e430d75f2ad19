/**
 * The TLS identity of the service, from the files of `tls`, which are watched for changes (`lib/certificate-files.ts`). Open
 * connections keep the certificate they began with.
 */
import type { Config } from "../config/schema.ts";
import { LiveTlsIdentity, type TlsIdentity } from "../http1/tls-identity.ts";
import { CertificateFiles, type Certificates } from "../lib/certificate-files.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";

export interface WatchedTlsFiles {
  readonly identity: LiveTlsIdentity;
  /** Expiry of the certificate in epoch milliseconds. */
  readonly expiresAt: number;
  /** Watches the files until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Reads the files; undefined without TLS. Throws `CertificateError`. */
export async function openTlsFiles(
  { tls: { cert, key, clientCa } }: Pick<Config, "tls">,
  clock: Clock,
  logger: Logger,
): Promise<WatchedTlsFiles | undefined> {
  if (cert === undefined || key === undefined) return undefined;
  const files = await CertificateFiles.open({ cert, key, ca: clientCa }, clock, logger);
  const identity = new LiveTlsIdentity(identityOf(files.current));
  return {
    identity,
    get expiresAt() {
      return files.current.expiresAt;
    },
    run: (signal) => files.run(signal, (certificates) => identity.replace(identityOf(certificates))),
  };
}

const identityOf = ({ cert, key, ca }: Certificates): TlsIdentity => ({
  cert,
  key,
  ...(ca !== undefined && { clientCa: ca }),
});
