/**
 * What the writer and its readers say to each other, a JSON line each: orders, users and the end on a reader's standard
 * input, what it has come to on its standard output. On pipes of their own, so nobody else can listen or speak.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { Configuration, type Immutable } from "../config/schema.ts";

/** The part of the configuration that shapes how requests are answered. */
const ReaderConfiguration = Type.Pick(Configuration, ["host", "aliases", "cors", "limits", "logLevel"]);

const ToldUser = Type.Object({ name: Type.String(), hash: Type.String(), credentialId: Type.String() });

const Orders = Type.Object({
  /** Which process of the service it is; the writer is the first. */
  reader: Type.Integer({ minimum: 2 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  /** Where the writer serves its readers, and the password with which they ask there. */
  socket: Type.String(),
  password: Type.String(),
  /** Name and key (base64) of the writer's log, which entity tags and cursors are made with. */
  epoch: Type.String(),
  secret: Type.String(),
  config: ReaderConfiguration,
});
export type Orders = Immutable<Type.Static<typeof Orders>>;

/** To a reader. Orders and users come first and together. */
const ToReader = Type.Object({
  orders: Type.Optional(Orders),
  users: Type.Optional(Type.Array(ToldUser)),
  stop: Type.Optional(Type.Boolean()),
});
export type ToReader = Immutable<Type.Static<typeof ToReader>>;

/** From a reader. */
const count = Type.Integer({ minimum: 0 });
const FromReader = Type.Object({
  listening: Type.Optional(Type.Boolean()),
  tally: Type.Optional(
    Type.Object({
      requests: Type.Record(Type.String(), count),
      shed: count,
      streamsOpen: count,
      streamsOpened: count,
      streamsOverflowed: count,
    }),
  ),
});
export type FromReader = Immutable<Type.Static<typeof FromReader>>;

const toReader = Compile(ToReader);
const fromReader = Compile(FromReader);

export function readToReader(value: unknown): ToReader {
  if (toReader.Check(value)) return value;
  throw new Error("what a reader is told is malformed");
}

export function readFromReader(value: unknown): FromReader {
  if (fromReader.Check(value)) return value;
  throw new Error("what a reader says is malformed");
}
