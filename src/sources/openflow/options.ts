/** What an operator may set of the OpenFlow source, with defaults that fit a laboratory and a small campus alike. */
import Type from "typebox";

const milliseconds = (minimum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum: 2_147_483_647, description }));

export const OpenflowOptions = Type.Object(
  {
    listen: Type.Optional(
      Type.String({
        pattern: "^(?:(?:[^\\s:\\[\\]/]+|\\[[0-9A-Fa-f:.]+\\]):)?\\d{1,5}$",
        maxLength: 300,
        description:
          "[HOST:]PORT on which switches connect. Default 127.0.0.1:6653; port 0 takes a free one.",
      }),
    ),
    tls: Type.Optional(
      Type.Object(
        {
          cert: Type.String({ minLength: 1, description: "File with our certificate chain, PEM." }),
          key: Type.String({ minLength: 1, description: "File with our private key, PEM." }),
          ca: Type.Optional(
            Type.String({
              minLength: 1,
              description:
                "File with the authorities that sign switches' certificates; a switch must then have one.",
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    forwarding: Type.Optional(
      Type.Enum(["bridge", "none"], {
        description: "bridge: hosts can talk, loops are cut. none: another controller programs the switches.",
      }),
    ),
    announcements: Type.Optional(
      Type.Enum(["copy", "listen"], {
        description:
          "With forwarding none: copy installs flows that bring ARP, ND and DHCP here and forward them as NORMAL; " +
          "listen (the default) hears what the other controller has sent to controllers.",
      }),
    ),
    probeIntervalMs: milliseconds(
      100,
      "Between two probes of a port. Three missed end a link. Default 3000.",
    ),
    probeMaxAgeMs: milliseconds(10, "A probe that was longer under way proves nothing. Default 2000."),
    settleMs: milliseconds(0, "How long a new port is probed before it counts as an edge. Default 500."),
    hostTimeoutMs: milliseconds(
      1000,
      "A host silent for so long, also when asked, is removed. Default 300000.",
    ),
    removeAfterMs: milliseconds(
      0,
      "A switch gone for so long leaves the inventory. Default 86400000 (24 h).",
    ),
    graceMs: milliseconds(
      0,
      "After a start, how long switches have to come back before what was known is changed. Default 10000.",
    ),
    echoIntervalMs: milliseconds(
      100,
      "Between two echo requests; one unanswered for twice as long ends the session. Default 5000.",
    ),
    foreignLldp: Type.Optional(
      Type.Boolean({ description: "Show neighbours that speak LLDP but not OpenFlow. Default false." }),
    ),
    maxSessions: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: "Sessions at once. Default 5000." }),
    ),
    maxPacketInRate: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "Announcements a second taken from one port; more are dropped and counted. Default 100.",
      }),
    ),
    maxHosts: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000_000, description: "Hosts kept in all. Default 200000." }),
    ),
    maxHostsPerPort: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: "Hosts kept on one port. Default 4096." }),
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
  const { tls, listen, ...given } = options;
  return {
    forwarding: "bridge",
    announcements: given.forwarding === "none" ? "listen" : "copy",
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
    ...given,
    ...parseListenAddress(listen ?? "127.0.0.1:6653"),
    tls,
  };
}

/** `[HOST:]PORT`; a host in brackets is IPv6; without a host it is the loopback address. */
export function parseListenAddress(listen: string): { readonly host: string; readonly port: number } {
  const colon = listen.lastIndexOf(":");
  const host = colon < 0 ? "127.0.0.1" : listen.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(listen.slice(colon + 1)) };
}
