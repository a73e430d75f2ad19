/**
 * What is known of an agent's SNMPv3 engine (RFC 3414, 2.3): its id, and the highest boots and time that an authentic
 * message had. A session is created with it and returns it, so that it outlives the session and a restart of the service.
 *
 * The library has no functions for this; these are the fields that it keeps. Times that passed meanwhile are measured
 * with the clock of the machine, which may have been set. That does no harm: what is refused depends on the stored boots
 * and time, which time that has passed only adds to. When the sum is wrong, the agent reports its own time, authentic, and
 * the library uses that when it is higher than the stored one.
 */
import type snmp from "net-snmp";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { Clock } from "../../../lib/clock.ts";
import type { SourceContext } from "../../source.ts";
import { StateFile } from "../../state-file.ts";

const Int31 = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });

const EngineSchema = Type.Object({
  /** The engine id in hexadecimal. */
  id: Type.String({ pattern: "^([0-9a-f]{2}){1,32}$" }),
  boots: Int31,
  time: Int31,
  /** Epoch milliseconds at which `time` was received. */
  receivedAt: Type.Integer({ minimum: 0 }),
});
export type UsmEngine = Type.Static<typeof EngineSchema>;

/** The fields of a session once it has had an authentic message. `engineTimeReceivedAt` is of `performance.now()`. */
const SyncedSession = Compile(
  Type.Object({
    engineTimeBoots: Int31,
    latestReceivedEngineTime: Int31,
    engineTimeReceivedAt: Type.Number(),
    msgSecurityParameters: Type.Object({ msgAuthoritativeEngineID: Type.Unknown() }),
  }),
);

/** Undefined before the first authentic message, and for SNMPv2c. */
export function engineOf(session: snmp.Session, clock: Clock): UsmEngine | undefined {
  const fields: unknown = session;
  if (!SyncedSession.Check(fields)) return undefined;
  const { engineTimeBoots, latestReceivedEngineTime, engineTimeReceivedAt, msgSecurityParameters } = fields;
  const { msgAuthoritativeEngineID: id } = msgSecurityParameters;
  if (!(id instanceof Uint8Array)) return undefined;
  return {
    id: Buffer.from(id).toString("hex"),
    boots: engineTimeBoots,
    time: latestReceivedEngineTime,
    receivedAt: Math.round(clock.now() - (performance.now() - engineTimeReceivedAt)),
  };
}

/** Makes the engine what the session has learned. */
export function setEngine(
  session: snmp.Session,
  { id, boots, time, receivedAt }: UsmEngine,
  clock: Clock,
): void {
  const elapsedMs = Math.max(0, clock.now() - receivedAt);
  Object.assign(session, {
    engineTimeBoots: boots,
    engineTimeBase: time,
    latestReceivedEngineTime: time,
    engineTimeReceivedAt: performance.now() - elapsedMs,
    msgSecurityParameters: {
      msgAuthoritativeEngineID: Buffer.from(id, "hex"),
      msgAuthoritativeEngineBoots: boots,
      msgAuthoritativeEngineTime: time,
    },
  });
}

// The engines of all agents, in the file of the source. Without it, a message recorded before a restart of the service
// could be replayed after it. The file is written when the id or the boots of an engine change, at most every few minutes
// for times alone, and at the end of a run.

const WRITE_INTERVAL_MS = 5 * 60_000;
/** Largest number of engines: that of `targets`. */
const MAX_ENGINES = 65_536;

const Engines = Type.Object({
  engines: Type.Array(Type.Object({ target: Type.String({ maxLength: 300 }), ...EngineSchema.properties }), {
    maxItems: MAX_ENGINES,
  }),
});
const isEngines = Compile(Engines);

/** An agent of the fleet, as far as its engine is concerned. */
interface EngineHolder {
  readonly target: { readonly text: string };
  engine: UsmEngine | undefined;
}

export class EngineFile {
  readonly #file: StateFile<Type.Static<typeof Engines>>;
  readonly #clock: SourceContext["clock"];
  /** What the file has, by target. */
  #written: ReadonlyMap<string, UsmEngine> = new Map();
  #writtenAt: number;

  constructor(name: string, context: SourceContext) {
    this.#file = new StateFile(name, isEngines, context);
    this.#clock = context.clock;
    this.#writtenAt = this.#clock.monotonic();
  }

  /** Gives each agent its stored engine. Call it before the first poll. */
  async restore(agents: readonly EngineHolder[]): Promise<void> {
    const { engines = [] } = (await this.#file.read()) ?? {};
    this.#written = new Map(engines.map(({ target, ...engine }) => [target, engine]));
    for (const agent of agents) agent.engine = this.#written.get(agent.target.text);
  }

  /** Writes the file when that is due, or when there is anything new and `isLast`. */
  async save(agents: readonly EngineHolder[], { isLast = false } = {}): Promise<void> {
    const engines = new Map(
      agents.flatMap(({ target, engine }) => (engine ? [[target.text, engine] as const] : [])),
    );
    const isDue = isLast || this.#clock.monotonic() - this.#writtenAt >= WRITE_INTERVAL_MS;
    if (!this.#differs(engines, isDue)) return;
    this.#written = engines;
    this.#writtenAt = this.#clock.monotonic();
    await this.#file.write({ engines: [...engines].map(([target, engine]) => ({ target, ...engine })) });
  }

  #differs(engines: ReadonlyMap<string, UsmEngine>, alsoInTime: boolean): boolean {
    if (engines.size !== this.#written.size) return true;
    return engines.entries().some(([target, { id, boots, time }]) => {
      const written = this.#written.get(target);
      return written?.id !== id || written.boots !== boots || (alsoInTime && written.time !== time);
    });
  }
}
