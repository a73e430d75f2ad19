/** Creates certificates with openssl: an authority (`ca.pem`) and certificates it signed (`NAME.pem`, `NAME.key`). */
const KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";

/** `commonName`: of each certificate; by default all are `localhost`. */
export function createCertificates(
  folder: string,
  names: readonly string[],
  authority = "ca",
  commonName: (name: string) => string = () => "localhost",
): void {
  const openssl = (args: string) => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args.split(" ")], { cwd: folder });
    if (exitCode !== 0) throw new Error(stderr.toString());
  };
  openssl(`req -x509 ${KEY} -keyout ${authority}.key -out ${authority}.pem -subj /CN=${authority} -days 2`);
  const signer = `-CA ${authority}.pem -CAkey ${authority}.key -CAcreateserial`;
  for (const name of names) {
    openssl(`req ${KEY} -keyout ${name}.key -out ${name}.csr -subj /CN=${commonName(name)}`);
    openssl(`x509 -req -in ${name}.csr ${signer} -out ${name}.pem -days 2`);
  }
}
