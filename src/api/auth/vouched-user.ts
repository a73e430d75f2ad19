/**
 * Users who need no password, because somebody else has authenticated them: TLS by a client certificate, whose CN is the name
 * of the user, or a trusted proxy, which sends the name in a header (`auth.userHeader`). If the request also has an
 * Authorization header, it must be that of the same user.
 */
import type { AuthResult, Credential } from "./authenticate.ts";
import type { Users } from "./users.ts";

/** The party that has authenticated the user of a request, and the name that it gives; undefined if that is not valid. */
export interface Voucher {
  readonly by: "certificate" | "proxy";
  readonly name: string | undefined;
}

export type RequestAuthResult =
  | AuthResult
  | {
      readonly outcome: "unknown-certificate" | "different-users" | "unknown-proxy-user" | "other-proxy-user";
    };

const UNKNOWN = {
  certificate: { outcome: "unknown-certificate" },
  proxy: { outcome: "unknown-proxy-user" },
} as const satisfies Record<Voucher["by"], RequestAuthResult>;
const DIFFERENT = {
  certificate: { outcome: "different-users" },
  proxy: { outcome: "other-proxy-user" },
} as const satisfies Record<Voucher["by"], RequestAuthResult>;

/** The credential of a user who is authenticated in another way than by a secret. */
export function credentialOf(users: Users, name: string): Credential | undefined {
  const user = users.find(name.normalize("NFC"));
  return user && { outcome: "ok", user: user.name, credentialId: user.credentialId, role: user.role };
}

/** The credential of the user whom the voucher names; undefined if there is no such user. */
const ownerOf = (users: Users, { name }: Voucher): Credential | undefined =>
  name === undefined ? undefined : credentialOf(users, name);

/** The credential of a request, if no secret must be checked. `findCached` returns the cached credential of a header. */
export function cachedWithVoucher(
  users: Users,
  voucher: Voucher | undefined,
  header: string | null,
  findCached: (header: string | null) => Credential | undefined,
): Credential | undefined {
  if (!voucher) return findCached(header);
  const owner = ownerOf(users, voucher);
  if (!owner || !header) return owner;
  const credential = findCached(header);
  return credential?.user === owner.user ? credential : undefined;
}

/** Authenticates a request with a voucher or without one. `checkHeader` checks the Authorization header. */
export async function authenticateWithVoucher(
  users: Users,
  voucher: Voucher | undefined,
  checkHeader: () => Promise<AuthResult>,
): Promise<RequestAuthResult> {
  if (!voucher) return checkHeader();
  const owner = ownerOf(users, voucher);
  if (!owner) return UNKNOWN[voucher.by];
  const result = await checkHeader();
  return result.outcome === "ok" && result.user !== owner.user ? DIFFERENT[voucher.by] : result;
}
