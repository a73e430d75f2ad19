/** What the agents accept: a community of SNMPv2c, or a user of SNMPv3. Read from the options at each poll. */
import snmp from "net-snmp";
import { readSecret } from "../../secret.ts";
import { isLongEnough, PASSWORD_RULE, type SnmpOptions, type V3Options } from "../options.ts";
import type { SecurityLevel } from "./message-guard.ts";

export type Credentials =
  | { readonly level: "community"; readonly community: string }
  | {
      readonly level: Exclude<SecurityLevel, "community">;
      readonly user: snmp.User;
      readonly context: string;
    };

export type CredentialsResult =
  | { readonly ok: true; readonly credentials: Credentials }
  | { readonly ok: false; readonly message: string };

export async function readCredentials(options: SnmpOptions): Promise<CredentialsResult> {
  if (options.v3) return readUser(options.v3);
  const community = await readSecret(options, "community");
  if (!community.ok) return community;
  if (community.value === undefined) return { ok: false, message: "community is required" };
  return { ok: true, credentials: { level: "community", community: community.value } };
}

async function readUser(v3: V3Options): Promise<CredentialsResult> {
  const auth = await readSecret(v3, "authPassword");
  const priv = await readSecret(v3, "privPassword");
  if (!auth.ok) return auth;
  if (!priv.ok) return priv;
  if (auth.value === undefined) return { ok: false, message: "authPassword is required" };
  for (const [name, { value }] of [["authPassword", auth] as const, ["privPassword", priv] as const]) {
    if (value !== undefined && !isLongEnough(value))
      return { ok: false, message: `${name} ${PASSWORD_RULE}` };
  }
  const base = {
    name: v3.user,
    authProtocol: snmp.AuthProtocols[v3.authProtocol],
    authKey: auth.value,
  };
  const context = v3.context ?? "";
  if (v3.privProtocol === undefined || priv.value === undefined) {
    return {
      ok: true,
      credentials: { level: "auth", user: { ...base, level: snmp.SecurityLevel.authNoPriv }, context },
    };
  }
  const user: snmp.User = {
    ...base,
    level: snmp.SecurityLevel.authPriv,
    privProtocol: snmp.PrivProtocols[v3.privProtocol],
    privKey: priv.value,
  };
  return { ok: true, credentials: { level: "authPriv", user, context } };
}
