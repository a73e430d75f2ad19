/**
 * HTTPS for the commands that read from a service: a private authority to trust, and a client certificate. Without
 * either, the runtime trusts the authorities of the system and those of NODE_EXTRA_CA_CERTS.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import Type from "typebox";
import type { Fetch } from "../client/client.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Arguments, Flag } from "./args.ts";
import { usageFailure } from "./failure.ts";

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
