/**
 * The options of the `openflow` source. The defaults suit a lab and a small campus. `forwarding` has no default: the operator
 * decides whether the switches are programmed to forward.
 */
import Type from "typebox";
import type { GoneKey } from "../../lib/gone-keys.ts";
import { pathText } from "../../lib/schema-values.ts";

const HOST = String.raw`(?:[^\s:\[\]/]+|\[[0-9A-Fa-f:.]+\])`;
/** A pattern for the numbers from 0 to 65535. */
const PORT = String.raw`(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])`;

/** A datapath id: 16 hexadecimal digits, with or without the prefix of device ids. */
const DATAPATH_ID = "^(?:of:)?[0-9A-Fa-f]{16}$";
const datapathId = () =>
  Type.String({
    pattern: DATAPATH_ID,
    title: "a datapath id of 16 hexadecimal digits, such as of:0000000000000001",
  });

/** A common name, or `sha256:` and the 32 bytes of a fingerprint. */
const CERTIFICATE = "^(?:[Ss][Hh][Aa]256:(?:[0-9A-Fa-f]{2}:?){32}|(?![Ss][Hh][Aa]256:).+)$";

const count = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }));

const milliseconds = (minimum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum: 2_147_483_647, description }));

export const OpenflowOptions = Type.Object(
  {
    listen: Type.Optional(
      Type.String({
        pattern: `^(?:${HOST}:)?${PORT}$`,
        maxLength: 300,
        title: "[HOST:]PORT, such as 6653 or 0.0.0.0:6653",
        description:
          "[HOST:]PORT on which switches connect. Default 127.0.0.1:6653; port 0 takes a free one.",
      }),
    ),
    tls: Type.Optional(
      Type.Object(
        {
          cert: pathText({ description: "File with the certificate chain of this service, PEM." }),
          key: pathText({ description: "File with the private key of this service, PEM." }),
          ca: Type.Optional(
            pathText({
              description:
                "File with the authorities that sign the switches' certificates. Every switch must then present one.",
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    forwarding: Type.Enum(["bridge", "none"], {
      title:
        "bridge (the switches are programmed to forward between hosts, without loops) or none (another controller " +
        "programs them; only flows for the discovery of links are added)",
      description:
        "bridge: the switches are programmed to forward between hosts, without loops. none: another controller programs them.",
    }),
    announcements: Type.Optional(
      Type.Enum(["copy", "listen"], {
        description:
          "With forwarding none: copy installs flows that send ARP, ND and DHCP here and forward them as NORMAL; " +
          "listen (the default) uses what the other controller has sent to controllers.",
      }),
    ),
    probeIntervalMs: milliseconds(
      100,
      "Between two probes of a port. A link is removed after three missed probes. Default 3000.",
    ),
    hostTimeoutMs: milliseconds(
      1000,
      "A host that neither sends nor replies for so long is removed. Default 300000.",
    ),
    removeAfterMs: milliseconds(
      0,
      "A switch without a session for so long is removed. Default 86400000 (24 h).",
    ),
    graceMs: milliseconds(
      0,
      "After a start, how long the earlier claims stay until switches have reconnected. Default 10000.",
    ),
    echoIntervalMs: milliseconds(
      100,
      "Between two echo requests. A session without a reply for twice as long is closed. Default 5000.",
    ),
    foreignLldp: Type.Optional(
      Type.Boolean({
        description: "Show neighbours that send LLDP but have no OpenFlow session. Default false.",
      }),
    ),
    allow: Type.Optional(
      Type.Array(
        Type.Union([
          datapathId(),
          Type.Object(
            {
              id: datapathId(),
              certificate: Type.Optional(
                Type.String({
                  pattern: CERTIFICATE,
                  maxLength: 200,
                  title: "a common name, or sha256: and the 64 hexadecimal digits of a fingerprint",
                  description:
                    "The common name (CN) of the certificate that this switch must present, or sha256: and its fingerprint. Needs tls.ca.",
                }),
              ),
            },
            { additionalProperties: false },
          ),
        ]),
        {
          maxItems: 100_000,
          description:
            "The datapath ids that are accepted, each optionally with its certificate. Listed switches are never displaced by others.",
        },
      ),
    ),
    allowOthers: Type.Optional(
      Type.Boolean({
        description: "Accept switches that are not in allow. Default: true without allow, false with it.",
      }),
    ),
    maxDevices: count(
      100_000,
      "Maximum number of switches, connected or not. Of one peer address: a quarter of it, or 2500 if that is more. Default 10000.",
    ),
    maxHosts: count(
      10_000_000,
      "Maximum number of hosts. At the switches of one peer address: half of it, or 100000 if that is more. Default 200000.",
    ),
  },
  { additionalProperties: false },
);
export type OpenflowOptions = Type.Static<typeof OpenflowOptions>;

/** Options that earlier versions had. Their values follow from `maxDevices` and `maxHosts`, or are fixed. */
export const GONE_OPENFLOW_OPTIONS: readonly GoneKey[] = Object.entries({
  probeMaxAgeMs: "a probe that arrives later than 2 s is ignored",
  settleMs: "a new port is probed for 500 ms before it becomes an edge port",
  maxSessions: "it is maxDevices, and at least 5000",
  maxDevicesPerAddress: "it is a quarter of maxDevices, and at least 2500",
  maxPorts: "it is 26 for each of maxDevices, and at least 262144",
  maxPortsPerAddress: "it is a quarter of the ports of all switches",
  maxHostsPerAddress: "it is half of maxHosts, and at least 100000",
  maxHostsPerPort: "it is 4096",
  maxPacketInRate: "it is 100 a second",
  maxSessionPacketInRate: "it is 2000 a second",
  maxSourcePacketInRate: "it is 20000 a second",
  maxChangeRate: "it is 100 a second",
}).map(([option, meaning]) => ({ key: `sources.openflow.${option}`, advice: `remove it: ${meaning}` }));

/** The ports of a switch with 24 ports and two uplinks. */
const PORTS_PER_DEVICE = 26;
/** Lower bounds of the limits that follow from `maxDevices`, because switches in `allow` are not limited by `maxDevices`. */
const MIN_LIMITS = { sessions: 5000, sessionsPerAddress: 2500, ports: 262_144 };
/** Limits below which one peer address may have all switches and hosts: they may be behind one NAT or one relay. */
const MIN_PER_ADDRESS = { devices: 2500, hosts: 100_000 };

/** The options with every default filled in, and the limits that follow from them. */
export type OpenflowSettings = Readonly<ReturnType<typeof resolveSettings>>;

export function resolveSettings(options: OpenflowOptions) {
  const { tls, listen, maxDevices = 10_000, maxHosts = 200_000, ...rest } = options;
  const maxDevicesPerAddress = Math.min(
    maxDevices,
    Math.max(MIN_PER_ADDRESS.devices, Math.ceil(maxDevices / 4)),
  );
  const maxPorts = Math.max(MIN_LIMITS.ports, PORTS_PER_DEVICE * maxDevices);
  return {
    announcements: rest.forwarding === "none" ? ("listen" as const) : ("copy" as const),
    probeIntervalMs: 3000,
    /** A probe that arrives later than this is ignored. */
    probeMaxAgeMs: 2000,
    /** How long a new port is probed before it becomes an edge port. */
    settleMs: 500,
    hostTimeoutMs: 300_000,
    removeAfterMs: 86_400_000,
    graceMs: 10_000,
    echoIntervalMs: 5000,
    foreignLldp: false,
    ...rest,
    maxDevices,
    maxDevicesPerAddress,
    maxSessions: Math.max(MIN_LIMITS.sessions, maxDevices),
    maxSessionsPerAddress: Math.max(MIN_LIMITS.sessionsPerAddress, maxDevicesPerAddress),
    maxPorts,
    maxPortsPerAddress: Math.ceil(maxPorts / 4),
    maxHosts,
    maxHostsPerAddress: Math.min(maxHosts, Math.max(MIN_PER_ADDRESS.hosts, Math.ceil(maxHosts / 2))),
    maxHostsPerPort: 4096,
    /** Announcements per second that are accepted from one port; the next two limit one switch and the whole source. */
    maxPacketInRate: 100,
    maxSessionPacketInRate: 2000,
    maxSourcePacketInRate: 20_000,
    /** Records per second that the switches of one address may add or change, after a burst of `maxPortsPerAddress`. */
    maxChangeRate: 100,
    ...parseListenAddress(listen ?? "127.0.0.1:6653"),
    tls,
  };
}

/** Parses `[HOST:]PORT`. IPv6 addresses are in brackets. The default host is the loopback address. */
export function parseListenAddress(listen: string): { readonly host: string; readonly port: number } {
  const colon = listen.lastIndexOf(":");
  const host = colon < 0 ? "127.0.0.1" : listen.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(listen.slice(colon + 1)) };
}
