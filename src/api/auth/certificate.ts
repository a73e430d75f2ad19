/**
 * Authentication by client certificate, in addition to passwords. The CN of a verified certificate is the name of a user,
 * who then needs no password. If the request also has an Authorization header, it must be that of the same user.
 */
import type { ClientCertificate } from "../../http1/handler.ts";
import type { AuthResult, Credential } from "./authenticate.ts";
import type { Users } from "./users.ts";

export type CertificateAuthResult =
  | AuthResult
  | { readonly outcome: "unknown-certificate" | "different-users" };

const UNKNOWN_CERTIFICATE: CertificateAuthResult = { outcome: "unknown-certificate" };
const DIFFERENT_USERS: CertificateAuthResult = { outcome: "different-users" };

/** The credential of a user who is authenticated in another way than by password. */
export function credentialOf(users: Users, name: string): Credential | undefined {
  const user = users.find(name.normalize("NFC"));
  return user && { outcome: "ok", user: user.name, credentialId: user.credentialId, role: user.role };
}

/** The credential of the user that the certificate names; undefined if it is not valid or its CN is not a user. */
export const ownerOf = (users: Users, { commonName }: ClientCertificate): Credential | undefined =>
  commonName === undefined ? undefined : credentialOf(users, commonName);

/** The credential of a request, if no password must be checked. `findPassword` returns the cached credential of a header. */
export function cachedWithCertificate(
  users: Users,
  certificate: ClientCertificate | undefined,
  header: string | null,
  findPassword: (header: string | null) => Credential | undefined,
): Credential | undefined {
  if (!certificate) return findPassword(header);
  const owner = ownerOf(users, certificate);
  if (!owner || !header) return owner;
  const credential = findPassword(header);
  return credential?.user === owner.user ? credential : undefined;
}

/** Authenticates a request by certificate and password. `checkPassword` checks the Authorization header. */
export async function authenticateWithCertificate(
  users: Users,
  certificate: ClientCertificate | undefined,
  checkPassword: () => Promise<AuthResult>,
): Promise<CertificateAuthResult> {
  if (!certificate) return checkPassword();
  const owner = ownerOf(users, certificate);
  if (!owner) return UNKNOWN_CERTIFICATE;
  const result = await checkPassword();
  return result.outcome === "ok" && result.user !== owner.user ? DIFFERENT_USERS : result;
}
