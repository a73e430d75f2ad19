/** Creates certificates with openssl: an authority (`ca.pem`) and certificates it signed (`NAME.pem`, `NAME.key`). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const KEYS = {
  ecdsa: "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes",
  rsa: "-newkey rsa:2048 -nodes",
} as const;

export interface CertificateOptions {
  /** Default: localhost. */
  readonly commonName?: string;
  readonly authority?: string;
  readonly key?: keyof typeof KEYS;
  readonly days?: number;
  /** Default: the names and addresses of this machine, for servers. */
  readonly extensions?: string;
}

function openssl(folder: string, args: string): void {
  const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args.split(" ")], { cwd: folder });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

export function createCertificates(folder: string, names: readonly string[], authority = "ca"): void {
  openssl(
    folder,
    `req -x509 ${KEYS.ecdsa} -keyout ${authority}.key -out ${authority}.pem -subj /CN=${authority} -days 40`,
  );
  for (const name of names) createCertificate(folder, name, { authority });
}

/** Signed by an authority that `createCertificates` has created. Replaces the files of an earlier call. */
export function createCertificate(folder: string, name: string, options: CertificateOptions = {}): void {
  const { commonName = "localhost", authority = "ca", key = "ecdsa", days = 30 } = options;
  const { extensions = "subjectAltName=DNS:localhost,IP:127.0.0.1" } = options;
  writeFileSync(join(folder, `${name}.ext`), `${extensions}\n`);
  const signer = `-CA ${authority}.pem -CAkey ${authority}.key -CAcreateserial`;
  openssl(folder, `req ${KEYS[key]} -keyout ${name}.key -out ${name}.csr -subj /CN=${commonName}`);
  openssl(folder, `x509 -req -in ${name}.csr ${signer} -out ${name}.pem -days ${days} -extfile ${name}.ext`);
}
