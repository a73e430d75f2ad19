/**
 * The schema of the configuration: every key with its default, bounds and description. The check of the file, the type
 * `Config` and the table in docs/configuration.md are derived from it.
 */
import Type from "typebox";
import { isAddressRange } from "../lib/address-ranges.ts";
import { pathText } from "../lib/schema-values.ts";
import { DEFAULT_IDENTITY, IDENTITY_RULES } from "../model/merge-settings.ts";
import { mapSections } from "./map-schema.ts";

/** The pattern of the name of a cluster or node. The name becomes a part of NATS subjects, streams and buckets. */
const CLUSTER_NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$";

const section = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description });
const integer = (minimum: number, maximum: number, defaultValue: number, description: string) =>
  Type.Integer({ minimum, maximum, default: defaultValue, description });

const path = (description: string) => Type.Optional(pathText({ description }));

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export const Limits = section(
  {
    headerBytes: integer(1024, MiB, 16_384, "Largest request head: the request line and all headers."),
    connections: integer(
      1,
      1_000_000,
      10_000,
      "Requests and streams in flight; further ones get 503. With 1000 more connections than that open, or half as many that never sent valid credentials, the oldest idle ones are closed.",
    ),
    streamsPerUser: integer(0, 100_000, 100, "Event streams that one user may have open."),
    streamBufferBytes: integer(
      65_536,
      16 * GiB,
      64 * MiB,
      "Recent changes held in memory for all streams; a stream that falls further behind is closed and the client resumes.",
    ),
    pageLimit: integer(1, 1_000_000, 10_000, "Largest `limit` of a page."),
    paths: integer(1, 10_000, 256, "Largest number of paths in one response."),
    requestsPerSecond: integer(0, 1_000_000, 0, "Requests a second for one user; 0 is no limit."),
    idleTimeoutSeconds: integer(
      1,
      255,
      60,
      "Seconds without traffic after which a connection is closed. Event streams send a heartbeat every 15 s.",
    ),
    minReadBytesPerSecond: integer(
      0,
      GiB,
      1024,
      "A client that reads a response more slowly than this, over 30 s, is disconnected; 0 is no limit. Event streams have `streamBufferBytes`.",
    ),
    responseBytesPerUser: integer(
      MiB,
      1024 * GiB,
      64 * MiB,
      "Memory that one user's responses may hold; beyond it, further reads of the user get 503 until some are sent.",
    ),
    responseBytes: integer(
      MiB,
      1024 * GiB,
      256 * MiB,
      "Memory that the responses of all users may hold; beyond it, further reads of users with a response outstanding get 503.",
    ),
    forwards: integer(
      1,
      1000,
      64,
      "Requests that are being forwarded to controllers, of all users; further ones get 503.",
    ),
    forwardsPerUser: integer(
      1,
      1000,
      16,
      "Requests of one user that are being forwarded to controllers; further ones get 429.",
    ),
    failureBurst: integer(
      1,
      10_000,
      10,
      "Wrong passwords for one user name from one address (IPv6: /64) before they are throttled.",
    ),
    failuresPerMinute: integer(
      1,
      60_000,
      60,
      "Wrong passwords a minute for one user name from one address after that burst.",
    ),
    addressFailureBurst: integer(
      1,
      100_000,
      100,
      "Wrong passwords for any user names from one address before it is throttled.",
    ),
    addressFailuresPerMinute: integer(
      1,
      600_000,
      600,
      "Wrong passwords a minute for any user names from one address after that burst.",
    ),
  },
  "Limits for clients.",
);
export type Limits = Type.Static<typeof Limits>;

export const Configuration = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 255,
      default: "127.0.0.1",
      description: "Address or name to listen on; `0.0.0.0` or `::` for all.",
    }),
    port: integer(0, 65_535, 8181, "Port to listen on; 0 picks a free one."),
    data: pathText({
      default: "./data",
      description: "Folder for the change log and the users file; `:memory:` writes nothing to disk.",
      except: [":memory:"],
    }),
    users: path("Users file; the default is `users` in the data folder."),
    tls: section(
      {
        cert: path("Certificate file (PEM), with those of intermediate authorities after it."),
        key: path("File of the certificate's private key (PEM)."),
        clientCa: path(
          "File of authorities (PEM) for client certificates; the CN of a certificate is the name of a user.",
        ),
      },
      "HTTPS. The files are read again when they change.",
    ),
    allowPlaintext: Type.Boolean({
      default: false,
      description: "Listen without TLS on an address that other machines can reach.",
    }),
    aliases: Type.Array(
      Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$", title: "one path segment, such as onos" }),
      {
        maxItems: 16,
        default: [],
        description:
          "Additional path prefixes for the same resources; `onos` for `/onos/v1` as ONOS serves it.",
      },
    ),
    onos: section(
      {
        hostLocation: Type.Boolean({
          default: false,
          description: "Hosts have `location` too, for programs of ONOS before 1.14.",
        }),
      },
      "The alias `onos`.",
    ),
    trustedProxies: Type.Array(
      Type.Refine(
        Type.String({ maxLength: 64, title: "an address or a CIDR block, such as 10.0.0.0/8" }),
        isAddressRange,
      ),
      {
        maxItems: 1000,
        default: [],
        description:
          "Addresses and CIDR blocks of reverse proxies. From them, `Forwarded` or else `X-Forwarded-For` names the client; from others both are ignored.",
      },
    ),
    auth: section(
      {
        userHeader: Type.Optional(
          Type.String({
            pattern: "^[A-Za-z0-9][A-Za-z0-9-]{0,63}$",
            title: "the name of a header, such as X-Remote-User",
            description:
              "Header in which a proxy of `trustedProxies` names the user whom it has signed in; that must be a user of the users file. From others it is ignored.",
          }),
        ),
      },
      "How users are authenticated, besides passwords, tokens and client certificates.",
    ),
    hosts: Type.Array(
      Type.String({
        maxLength: 255,
        pattern: "^([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|\\[?[0-9A-Fa-f:.]+\\]?)$",
        title: "a host name or address without a port, such as net.example.org",
      }),
      {
        maxItems: 1000,
        default: [],
        description:
          "Host names by which clients reach this service; a request for another host gets 421, except `/healthz` and `/readyz`. Empty is any.",
      },
    ),
    cors: section(
      {
        origins: Type.Array(
          Type.String({
            pattern: "^(\\*|https?://[^/\\s]+)$",
            title: "an origin, such as https://map.example.net, or *",
          }),
          {
            maxItems: 1000,
            default: [],
            description:
              "Origins whose pages may read this service, such as `https://map.example.net`, or `*` for all.",
          },
        ),
      },
      "Cross-origin requests from browsers.",
    ),
    accessLog: Type.Optional(
      pathText({
        description:
          "File for a JSON line of each response; `-` is standard output. Absent is none. SIGHUP opens it again.",
        except: ["-"],
      }),
    ),
    logFormat: Type.Enum(["text", "json"], {
      default: "text",
      description:
        "Lines of the log on standard error: `text` is `time level event key=value …`, `json` an object each.",
    }),
    identity: Type.Array(Type.Enum([...IDENTITY_RULES]), {
      uniqueItems: true,
      title: `a list of ${IDENTITY_RULES.join(", ")}, each at most once`,
      default: [...DEFAULT_IDENTITY],
      description:
        "Devices of two sources with the same value of one of these are the same device. An empty list joins devices by equal ids only.",
    }),
    sources: Type.Array(Type.Record(Type.String(), Type.Unknown(), { title: "keys and values" }), {
      maxItems: 1000,
      default: [],
      description:
        "Sources of the network: a list of `{type, name, …}` in order of precedence, the first one highest.",
    }),
    history: section(
      {
        keepDays: Type.Number({
          minimum: 0,
          maximum: 36_500,
          default: 30,
          description: "Days that changes stay in the log.",
        }),
        maxBytes: integer(
          MiB,
          1024 * GiB,
          4 * GiB,
          "Largest size of the stored changes; the oldest are removed first.",
        ),
      },
      "Retention of the change history.",
    ),
    problems: section(
      {
        lostLinkHours: Type.Number({
          minimum: 0,
          maximum: 8760,
          default: 24,
          description:
            "Hours that a link that is gone is listed as a problem, and as what parts two devices.",
        }),
        movedHostMinutes: Type.Number({
          minimum: 0,
          maximum: 525_600,
          default: 60,
          description: "Minutes that a host that moved is listed as a problem.",
        }),
      },
      "How long the list of problems has what is over.",
    ),
    cluster: section(
      {
        servers: Type.Array(
          Type.String({
            maxLength: 512,
            pattern: "^(nats|tls)://[^\\s,]+$",
            title: "an address of a NATS server, such as nats://10.0.0.1:4222",
          }),
          {
            maxItems: 100,
            default: [],
            description:
              "NATS servers with JetStream. Nodes with the same servers and name are one Gazetteer; empty is a single node.",
          },
        ),
        name: Type.String({
          pattern: CLUSTER_NAME_PATTERN,
          title: "letters, digits, _ and -, at most 32",
          default: "default",
          description: "Name of the cluster: NATS servers can have several.",
        }),
        replicas: integer(1, 5, 3, "NATS servers that store each change; at most as many as there are."),
        credentialsFile: path(
          "Credentials of NATS, as `nsc` writes them, for servers with an operator. For servers that have users in their own file, a user and password stand in the addresses instead: `tls://USER:PASSWORD@HOST`.",
        ),
        secretFile: path(
          "The secret of the cluster, the same on all nodes: seals keys and password hashes in NATS, and signs what nodes write there. Required where `servers` is given.",
        ),
        tls: section(
          {
            ca: path("File of authorities (PEM) for the certificates of the NATS servers."),
            cert: path("Certificate file (PEM) of this node as a client of NATS."),
            key: path("File of that certificate's private key (PEM)."),
          },
          "TLS to the NATS servers. It is required of servers whose address begins with `tls://`, and of all where `ca` or `cert` is given.",
        ),
        allowPlaintext: Type.Boolean({
          default: false,
          description: "Connect to NATS servers on other machines without TLS.",
        }),
        node: Type.Optional(
          Type.String({
            pattern: CLUSTER_NAME_PATTERN,
            title: "letters, digits, _ and -, at most 32",
            description: "Name of this node; the default is the name of the machine.",
          }),
        ),
        shareUsers: Type.Boolean({
          default: false,
          description:
            "All nodes have the same users: a change of one node's users file is applied on all of them. `GAZETTEER_CREDENTIALS` stays the node's own.",
        }),
        maxStaleSeconds: integer(
          0,
          31_536_000,
          0,
          "A node whose view may be older than this is no longer ready (`/readyz`); 0 is never.",
        ),
      },
      "Several nodes as one Gazetteer.",
    ),
    ...mapSections,
    limits: Limits,
    readers: Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.Literal("auto")], {
      default: 1,
      description: "Processes that serve requests; `auto` is one for each core.",
    }),
  },
  { additionalProperties: false },
);

export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;
export type Config = Immutable<Type.Static<typeof Configuration>>;
