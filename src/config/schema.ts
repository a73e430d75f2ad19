/**
 * The configuration: every key, its default and what it means. The file's checks, the type the service is built from
 * and the table in docs/operations.md all come from here.
 */
import Type from "typebox";
import { LEVELS } from "../lib/logger.ts";

const section = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description });
const count = (least: number, most: number, value: number, description: string) =>
  Type.Integer({ minimum: least, maximum: most, default: value, description });

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export const Limits = section(
  {
    headerBytes: count(1024, MiB, 16_384, "Largest request head, all headers together."),
    urlBytes: count(256, 65_536, 8192, "Longest request target."),
    connections: count(
      1,
      1_000_000,
      10_000,
      "Requests and streams under way; more are turned away with 503. With 1000 more connections open, idle ones are closed.",
    ),
    streamsPerUser: count(0, 100_000, 100, "Event streams that one user may have open."),
    streamBufferBytes: count(
      65_536,
      16 * GiB,
      64 * MiB,
      "Recent changes held for all streams; who falls further behind is ended and resumes.",
    ),
    pageLimit: count(1, 1_000_000, 10_000, "Largest `limit` of a page."),
    requestsPerSecond: count(0, 1_000_000, 0, "Requests a second that one user may make; 0 is no limit."),
    idleTimeoutSeconds: count(
      1,
      255,
      60,
      "How long a connection may be silent before it is closed. Event streams beat every 15 s.",
    ),
    failureBurst: count(1, 10_000, 10, "Wrong passwords from one address before they are slowed down."),
    failuresPerMinute: count(1, 60_000, 60, "Wrong passwords from one address after that."),
  },
  "Bounds on what clients may use.",
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
    port: count(0, 65_535, 8181, "Port to listen on; 0 takes a free one."),
    data: Type.String({
      minLength: 1,
      maxLength: 4096,
      default: "./data",
      description: "Folder for the change log and the users file; `:memory:` keeps nothing.",
    }),
    users: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: "Users file; without it, `users` in the data folder.",
      }),
    ),
    aliases: Type.Array(
      Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$", title: "one path segment, such as onos" }),
      {
        maxItems: 16,
        default: [],
        description: "Other first path segments that serve the same, such as `onos`.",
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
            description: "Origins whose pages may read, such as `https://map.example.net`, or `*`.",
          },
        ),
      },
      "Other web pages that may read this service.",
    ),
    logLevel: Type.Enum([...LEVELS], {
      default: "info",
      description: "What the diary on standard error tells.",
    }),
    sources: Type.Array(Type.Record(Type.String(), Type.Unknown(), { title: "keys and values" }), {
      maxItems: 1000,
      default: [],
      description:
        "What is known of the network: a list of `{type, name, …}`, first one first in precedence.",
    }),
    history: section(
      {
        keepDays: Type.Number({
          minimum: 0,
          maximum: 36_500,
          default: 30,
          description: "Days that changes are kept.",
        }),
        maxBytes: count(MiB, 1024 * GiB, 4 * GiB, "Size that kept changes may reach; the oldest go first."),
      },
      "How much of the past is kept.",
    ),
    limits: Limits,
    readers: Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.Literal("auto")], {
      default: 1,
      description: "Processes that answer requests; `auto` is one a core.",
    }),
  },
  { additionalProperties: false },
);

export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;
export type Config = Immutable<Type.Static<typeof Configuration>>;
