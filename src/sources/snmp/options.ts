/**
 * The options of the `snmp` source, and the faults that a schema cannot express: neither or both of community and v3, and
 * targets that are no targets. The defaults suit a campus; their reasons are in docs/sources/snmp.md.
 */
import Type from "typebox";
import { schemaOption } from "../../lib/schema-faults.ts";
import type { OptionFault } from "../option-fault.ts";
import { intervalSeconds } from "../poll-options.ts";
import { secretOptions } from "../secret.ts";
import { parseTargets } from "./fleet/targets.ts";

export const AUTH_PROTOCOLS = ["md5", "sha", "sha224", "sha256", "sha384", "sha512"] as const;
/** AES-256 has no standard way to extend the key: Blumenthal's draft (Net-SNMP) or Reeder's (Cisco). */
export const PRIV_PROTOCOLS = ["des", "aes", "aes256b", "aes256r"] as const;

/** RFC 3414, 11.2: shorter passwords are refused by agents. */
const MIN_PASSWORD_LENGTH = 8;

const seconds = (minimum: number, maximum: number, defaultValue: number, description: string) =>
  Type.Number({ minimum, maximum, default: defaultValue, description });
const count = (maximum: number, defaultValue: number, description: string) =>
  Type.Integer({ minimum: 1, maximum, default: defaultValue, description });

const V3Options = Type.Object(
  {
    user: Type.String({ minLength: 1, maxLength: 32, title: "a user name of 1 to 32 characters" }),
    authProtocol: Type.Enum([...AUTH_PROTOCOLS], { description: "How messages are authenticated." }),
    ...secretOptions("authPassword", "The password that messages are authenticated with."),
    privProtocol: Type.Optional(
      Type.Enum([...PRIV_PROTOCOLS], {
        description:
          "How messages are encrypted. aes is AES-128; aes256b extends the key as Net-SNMP does, aes256r as Cisco does. " +
          "Without it messages are authenticated only.",
      }),
    ),
    ...secretOptions("privPassword", "The password that messages are encrypted with."),
    context: Type.Optional(Type.String({ maxLength: 32, description: "The context name. Default: empty." })),
  },
  { additionalProperties: false },
);
export type V3Options = Type.Static<typeof V3Options>;

export const SnmpOptions = Type.Object(
  {
    targets: Type.Array(Type.String({ maxLength: 300 }), {
      minItems: 1,
      maxItems: 65_536,
      title: "a list of at least one target",
      description: "Agents: ADDRESS, NAME, either with :PORT, or a block of addresses such as 192.0.2.0/28.",
    }),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        default: 161,
        description: "The UDP port of targets that have none. Default 161.",
      }),
    ),
    ...secretOptions("community", "The community of SNMPv2c."),
    v3: Type.Optional(V3Options),
    intervalSeconds: intervalSeconds(60),
    timeoutSeconds: Type.Optional(
      seconds(0.1, 60, 2, "How long a reply to one request is waited for. Default 2."),
    ),
    retries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        default: 2,
        description: "How often a request without a reply is repeated. Default 2.",
      }),
    ),
    scanSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 604_800,
        default: 900,
        description:
          "After how long the addresses of a block that never answered are tried again. Default 900.",
      }),
    ),
    concurrency: Type.Optional(count(256, 32, "Agents that are walked at the same time. Default 32.")),
    packetsPerSecond: Type.Optional(
      count(100_000, 1000, "Requests that are sent in a second, to all agents together. Default 1000."),
    ),
    maxVarbinds: Type.Optional(
      count(10_000_000, 500_000, "Values that are read from one agent in a poll. Default 500000."),
    ),
    maxAgentSeconds: Type.Optional(
      seconds(1, 3600, 120, "How long one poll of an agent may take. Default 120."),
    ),
  },
  { additionalProperties: false },
);
export type SnmpOptions = Type.Static<typeof SnmpOptions>;

type NumberOption =
  | "port"
  | "intervalSeconds"
  | "timeoutSeconds"
  | "retries"
  | "scanSeconds"
  | "concurrency"
  | "packetsPerSecond"
  | "maxVarbinds"
  | "maxAgentSeconds";

/** The given number, or the default of the schema. */
export function numberOption(options: SnmpOptions, name: NumberOption): number {
  return options[name] ?? Number(schemaOption(SnmpOptions.properties[name], "default"));
}

const SECRET_SUFFIXES = ["", "File", "Env"] as const;

function hasSecret(options: object, name: string): boolean {
  return SECRET_SUFFIXES.some((suffix) => Object.hasOwn(options, `${name}${suffix}`));
}

/** Of options that match the schema. */
export function findSnmpFaults(options: SnmpOptions): OptionFault[] {
  const parsed = parseTargets(options.targets, numberOption(options, "port"));
  const targetFaults = parsed.ok ? [] : parsed.faults;
  return [...targetFaults, ...findCredentialFaults(options)];
}

function findCredentialFaults({ v3, ...options }: SnmpOptions): OptionFault[] {
  const hasCommunity = hasSecret(options, "community");
  if (!v3) {
    const message = "is required, unless v3 is given; must be text that is not empty";
    return hasCommunity ? [] : [{ path: ["community"], message }];
  }
  const faults: OptionFault[] = [];
  if (hasCommunity) faults.push({ path: ["v3"], message: "cannot be given with community", atKey: true });
  if (!hasSecret(v3, "authPassword")) {
    faults.push({
      path: ["v3", "authPassword"],
      message: "is required (or authPasswordFile, authPasswordEnv)",
    });
  }
  const [hasProtocol, hasPassword] = [v3.privProtocol !== undefined, hasSecret(v3, "privPassword")];
  if (hasProtocol !== hasPassword) {
    const [missing, given] = hasProtocol
      ? ["privPassword", "privProtocol"]
      : ["privProtocol", "privPassword"];
    faults.push({ path: ["v3", missing], message: `is required with ${given}` });
  }
  for (const name of ["authPassword", "privPassword"] as const) {
    const value = v3[name];
    if (value !== undefined && !isLongEnough(value)) {
      faults.push({ path: ["v3", name], message: PASSWORD_RULE });
    }
  }
  return faults;
}

export const PASSWORD_RULE = `must have at least ${MIN_PASSWORD_LENGTH} characters`;
export const isLongEnough = (password: string): boolean => password.length >= MIN_PASSWORD_LENGTH;
