/**
 * The SNMP session with one agent. It sends GETBULK requests with the library `net-snmp` and returns promises of values. A
 * session exists as long as the agent is polled, because it holds what SNMPv3 has learned about the agent's engine: its id,
 * boots and time. The library learns them again when the agent restarts (a higher number of boots), and refuses values that
 * go back. A session that is created with an engine needs no discovery.
 */
import snmp from "net-snmp";
import type { Clock } from "../../../lib/clock.ts";
import { readSecret } from "../../secret.ts";
import { isLongEnough, PASSWORD_RULE, type SnmpOptions, type V3Options } from "../options.ts";
import type { SnmpValue } from "../tables/mib.ts";
import { type AgentAddress, AgentSocket, type Pacer, type SecurityLevel } from "./agent-socket.ts";
import { type AgentFailure, fail, type SnmpCounters } from "./outcomes.ts";
import { engineOf, setEngine, type UsmEngine } from "./usm-engine.ts";

/** One value of a reply. The value is undefined when the agent has no further value here. */
export interface Varbind {
  readonly oid: string;
  readonly value: SnmpValue | undefined;
}

/** The values after each requested OID. `status` is a timeout or an error status about the request, not about the agent. */
type BulkResult =
  | { readonly ok: true; readonly columns: readonly (readonly Varbind[])[] }
  | { readonly ok: false; readonly status: "tooBig" | "noSuchName" | "timeout" }
  | AgentFailure;

interface SessionOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly pacer: Pacer;
  readonly counters: SnmpCounters;
}

/**
 * Maximum number of datagrams for one request, which may need the discovery of the engine and a second attempt after it was
 * refused because of the time. Without the limit the library would repeat the request as long as an agent refuses it.
 */
const DATAGRAMS_PER_REQUEST = 4;

/** Codes of the library's ResponseInvalidError. The type declarations of the library number them differently. */
const COULD_NOT_DECRYPT = 4;
const AUTH_FAILURE = 5;
const COMMUNITY_MISMATCH = 10;
const NOT_IN_TIME_WINDOW = 14;

/** The start of the library's text for each USM report, and the message: the name of the report in the MIB and its cause. */
const USM_ERRORS: readonly (readonly [start: string, text: string])[] = [
  [
    "Unsupported Security Level",
    "unsupportedSecLevel: the agent does not let this user authenticate or encrypt so",
  ],
  ["Not In Time Window", "notInTimeWindow: the agent does not accept the time of its engine"],
  ["Unknown User Name", "unknownUserName: the agent does not know this user"],
  ["Unknown Engine ID", "unknownEngineID: the agent does not accept its own engine id"],
  ["Wrong Digest", "wrongDigest: authPassword or authProtocol is not that of this user"],
  ["Decryption Error", "decryptionError: privPassword or privProtocol is not that of this user"],
];

export class AgentSession {
  readonly #socket: AgentSocket;
  readonly #session: snmp.Session;
  readonly #clock: Clock;

  constructor(
    credentials: SnmpCredentials,
    { clock, timeoutMs, pacer, counters }: SessionOptions,
    engine: UsmEngine | undefined,
  ) {
    this.#clock = clock;
    const socket = new AgentSocket(credentials.level, pacer, counters);
    this.#socket = socket;
    const options = { timeout: timeoutMs, retries: 0, dgramModule: { createSocket: () => socket } };
    // The socket sends to the address that is given to `open` and ignores the one that the library passes to it.
    this.#session =
      credentials.level === "community"
        ? snmp.createSession("", credentials.community, { ...options, version: snmp.Version2c })
        : snmp.createV3Session("", credentials.user, { ...options, context: credentials.context });
    this.#session.on("error", () => socket.countMalformed());
    if (engine && credentials.level !== "community") setEngine(this.#session, engine, clock);
  }

  /** What the session has learned about the agent's engine. To be read only after a reply to a request, which is authentic. */
  get engine(): UsmEngine | undefined {
    return engineOf(this.#session, this.#clock);
  }

  open(peer: AgentAddress): void {
    this.#socket.open(peer);
  }

  /** Ends the pending requests and closes the descriptor. */
  release(): void {
    this.#socket.release();
    this.#session.cancelRequests(new Error("the poll has ended"));
  }

  get received() {
    return this.#socket.received;
  }

  get pacedMs(): number {
    return this.#socket.pacedMs;
  }

  getBulk(oids: readonly string[], maxRepetitions: number): Promise<BulkResult> {
    this.#socket.allow(DATAGRAMS_PER_REQUEST);
    return new Promise((resolve) => {
      this.#session.getBulk([...oids], 0, maxRepetitions, (error, varbinds) => {
        resolve(error ? toFailure(error) : readReply(varbinds ?? []));
      });
    });
  }
}

function readReply(reply: readonly (snmp.Varbind | snmp.Varbind[])[]): BulkResult {
  const columns: Varbind[][] = [];
  for (const column of reply) {
    const values: Varbind[] = [];
    for (const varbind of Array.isArray(column) ? column : [column]) {
      if (snmp.isVarbindError(varbind)) {
        values.push({ oid: varbind.oid, value: undefined });
        break;
      }
      const value = toValue(varbind);
      if (value === undefined) return fail("malformed", "a reply has a value that cannot be read");
      values.push({ oid: varbind.oid, value });
    }
    columns.push(values);
  }
  return { ok: true, columns };
}

/** Converts a value to `SnmpValue`. Returns undefined for a truncated value, or one of a type that SNMPv2 does not have. */
function toValue({ type, value }: snmp.Varbind): SnmpValue | undefined {
  if (type === snmp.ObjectType.Null) return new Uint8Array();
  if (type === snmp.ObjectType.IpAddress) {
    return typeof value === "string" ? Uint8Array.from(value.split("."), Number) : undefined;
  }
  if (Buffer.isBuffer(value))
    return type === snmp.ObjectType.Counter64 ? toBigint(value) : new Uint8Array(value);
  return typeof value === "number" || typeof value === "string" ? value : undefined;
}

function toBigint(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString("hex")}`);
}

function toFailure(error: Error): BulkResult {
  if (error instanceof snmp.RequestFailedError) {
    if (error.status === snmp.ErrorStatus.TooBig) return { ok: false, status: "tooBig" };
    if (error.status === snmp.ErrorStatus.NoSuchName) return { ok: false, status: "noSuchName" };
    return fail(
      "error",
      `the agent replies with the error status ${snmp.ErrorStatus[error.status] ?? error.status}`,
    );
  }
  // Any other error is a timeout, or a request that could not be sent.
  if (!(error instanceof snmp.ResponseInvalidError)) return { ok: false, status: "timeout" };
  const code: number = error.code;
  if (code === NOT_IN_TIME_WINDOW)
    return fail("timeWindow", "the boots or the time of the agent's engine went back");
  if (code === COMMUNITY_MISMATCH) return fail("security", "a reply has another community than the request");
  if (code === COULD_NOT_DECRYPT) {
    return fail("security", "a reply cannot be decrypted: privPassword or privProtocol may be wrong");
  }
  if (code !== AUTH_FAILURE) return fail("malformed", "a reply has a form that SNMP does not have");
  const report = USM_ERRORS.find(([start]) => error.message.startsWith(start));
  if (report?.[0] === "Not In Time Window") return fail("timeWindow", report[1]);
  return fail(
    "security",
    report?.[1] ?? "a reply is not authentic: authPassword or authProtocol may be wrong",
  );
}

// The credentials for the agents: a community of SNMPv2c, or a user of SNMPv3. They are read from the options before each
// round of polls.

export type SnmpCredentials =
  | { readonly level: "community"; readonly community: string }
  | {
      readonly level: Exclude<SecurityLevel, "community">;
      readonly user: snmp.User;
      readonly context: string;
    };

type SnmpCredentialsResult =
  | { readonly ok: true; readonly credentials: SnmpCredentials }
  | { readonly ok: false; readonly message: string };

export async function readCredentials(options: SnmpOptions): Promise<SnmpCredentialsResult> {
  if (options.v3) return readUser(options.v3);
  const community = await readSecret(options, "community");
  if (!community.ok) return community;
  if (community.value === undefined) return { ok: false, message: "community is required" };
  return { ok: true, credentials: { level: "community", community: community.value } };
}

async function readUser(v3: V3Options): Promise<SnmpCredentialsResult> {
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
