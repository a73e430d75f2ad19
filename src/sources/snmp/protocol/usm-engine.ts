/**
 * The state of an agent's SNMPv3 engine (RFC 3414, 2.3): its id, and the highest boots and time of an authentic message. A
 * session is created with this state and returns it, so that the state outlives the session and a restart of the service.
 *
 * The library has no functions for this, so its fields are read and set here. The time between two sessions is measured
 * with the clock of the machine, which may have been changed. A changed clock is harmless, because messages are refused by
 * the stored boots and time. If the computed time is wrong, the agent reports its own time in an authentic message, and
 * the library uses that time when it is higher than the stored one.
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

/** The fields of a session that has received an authentic message. `engineTimeReceivedAt` is a `performance.now()` time. */
const SyncedSession = Compile(
  Type.Object({
    engineTimeBoots: Int31,
    latestReceivedEngineTime: Int31,
    engineTimeReceivedAt: Type.Number(),
    msgSecurityParameters: Type.Object({ msgAuthoritativeEngineID: Type.Unknown() }),
  }),
);

/** Returns the engine of a session; undefined before the first authentic message, and for SNMPv2c. */
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

/** Sets the engine of a session, as if the session had learned it. */
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

// `EngineFile` stores the engines of all agents in the state file of the source. Without the file, a message that was
// recorded before a restart of the service could be replayed after it. The file is written when the id or the boots of an
// engine change, at most every few minutes when only times change, and at the end of a run.

const WRITE_INTERVAL_MS = 5 * 60_000;
/** Maximum number of engines, which is the maximum number of `targets`. */
const MAX_ENGINES = 65_536;

const Engines = Type.Object({
  engines: Type.Array(Type.Object({ target: Type.String({ maxLength: 300 }), ...EngineSchema.properties }), {
    maxItems: MAX_ENGINES,
  }),
});
const isEngines = Compile(Engines);

/** The part of an agent that concerns its engine. */
interface EngineHolder {
  readonly target: { readonly text: string };
  engine: UsmEngine | undefined;
}

export class EngineFile {
  readonly #file: StateFile<Type.Static<typeof Engines>>;
  readonly #clock: SourceContext["clock"];
  /** The engines in the file, by target. */
  #written: ReadonlyMap<string, UsmEngine> = new Map();
  #writtenAt: number;

  constructor(name: string, context: SourceContext) {
    this.#file = new StateFile(name, isEngines, context);
    this.#clock = context.clock;
    this.#writtenAt = this.#clock.monotonic();
  }

  /** Sets the stored engine of each agent. To be called before the first poll. */
  async restore(agents: readonly EngineHolder[]): Promise<void> {
    const { engines = [] } = (await this.#file.read()) ?? {};
    this.#written = new Map(engines.map(({ target, ...engine }) => [target, engine]));
    for (const agent of agents) agent.engine = this.#written.get(agent.target.text);
  }

  /** Writes the file when an id or boots changed. Changed times alone are written when that is due or `isLast` is set. */
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
