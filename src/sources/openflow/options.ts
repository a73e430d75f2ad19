/** The options of the `openflow` source. The defaults suit a lab and a small campus. */
import Type from "typebox";

const HOST = String.raw`(?:[^\s:\[\]/]+|\[[0-9A-Fa-f:.]+\])`;
/** 0 to 65535. */
const PORT = String.raw`(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])`;

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
          cert: Type.String({
            minLength: 1,
            description: "File with the certificate chain of this service, PEM.",
          }),
          key: Type.String({ minLength: 1, description: "File with the private key of this service, PEM." }),
          ca: Type.Optional(
            Type.String({
              minLength: 1,
              description:
                "File with the authorities that sign the switches' certificates. Every switch must then present one.",
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    forwarding: Type.Optional(
      Type.Enum(["bridge", "none"], {
        description:
          "bridge: the switches forward between hosts, without loops. none: another controller programs the switches.",
      }),
    ),
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
    probeMaxAgeMs: milliseconds(10, "A probe that arrives later than this is ignored. Default 2000."),
    settleMs: milliseconds(0, "How long a new port is probed before it becomes an edge port. Default 500."),
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
    maxSessions: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: "Maximum number of sessions. Default 5000.",
      }),
    ),
    maxPacketInRate: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description:
          "Announcements per second accepted from one port; more are dropped and counted. Default 100.",
      }),
    ),
    maxHosts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        description: "Maximum number of hosts. Default 200000.",
      }),
    ),
    maxHostsPerPort: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "Maximum number of hosts on one port. Default 4096.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type OpenflowOptions = Type.Static<typeof OpenflowOptions>;

/** The options with every default filled in. */
export type OpenflowSettings = Required<Omit<OpenflowOptions, "tls" | "listen">> & {
  readonly host: string;
  readonly port: number;
  readonly tls: OpenflowOptions["tls"];
};

export function resolveSettings(options: OpenflowOptions): OpenflowSettings {
  const { tls, listen, ...rest } = options;
  return {
    forwarding: "bridge",
    announcements: rest.forwarding === "none" ? "listen" : "copy",
    probeIntervalMs: 3000,
    probeMaxAgeMs: 2000,
    settleMs: 500,
    hostTimeoutMs: 300_000,
    removeAfterMs: 86_400_000,
    graceMs: 10_000,
    echoIntervalMs: 5000,
    foreignLldp: false,
    maxSessions: 5000,
    maxPacketInRate: 100,
    maxHosts: 200_000,
    maxHostsPerPort: 4096,
    ...rest,
    ...parseListenAddress(listen ?? "127.0.0.1:6653"),
    tls,
  };
}

/** `[HOST:]PORT`. IPv6 addresses are in brackets. The default host is the loopback address. */
export function parseListenAddress(listen: string): { readonly host: string; readonly port: number } {
  const colon = listen.lastIndexOf(":");
  const host = colon < 0 ? "127.0.0.1" : listen.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(listen.slice(colon + 1)) };
}
