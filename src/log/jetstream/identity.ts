/** The id and the signing key of a cluster's log. NATS stores the key encrypted with the cluster's secret. */
import type { ClusterSecret } from "../../cluster/nats/sealed.ts";
import { LogError } from "../log.ts";
import type { LogIdentity } from "../log-file.ts";

const SIGNING_KEY = "signing key";

export const sealKey = (secret: ClusterSecret, signingKey: Uint8Array): string =>
  Buffer.from(secret.seal(SIGNING_KEY, signingKey)).toString("base64");

/** Whether the key was sealed with this secret. */
export const isSealedWith = (secret: ClusterSecret, { key }: { readonly key: string }): boolean =>
  secret.open(SIGNING_KEY, Buffer.from(key, "base64")) !== undefined;

/** Decrypts the signing key. Throws `LogError` when it was sealed with another secret. */
export function openIdentity(
  secret: ClusterSecret,
  { log, key }: { readonly log: string; readonly key: string },
): LogIdentity {
  const signingKey = secret.open(SIGNING_KEY, Buffer.from(key, "base64"));
  if (signingKey) return { id: log, signingKey };
  throw sealedWithOtherSecret();
}

export const sealedWithOtherSecret = (): LogError =>
  new LogError(
    "unreadable",
    'the secret of the cluster is another one; give the same cluster.secretFile to all nodes, or see docs/cluster.md, "Changing the secret"',
  );
