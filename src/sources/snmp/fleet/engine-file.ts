/**
 * The engines of all agents, in the file of the source. Without it, a message recorded before a restart of the service
 * could be replayed after it. The file is written when the id or the boots of an engine change, at most every few minutes
 * for times alone, and at the end of a run.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { SourceContext } from "../../source.ts";
import { StateFile } from "../../state-file.ts";
import { type Engine, EngineSchema } from "../protocol/usm-engine.ts";
import type { Agent } from "./agent.ts";

const WRITE_INTERVAL_MS = 5 * 60_000;
/** Of `targets`. */
const MAX_ENGINES = 65_536;

const Engines = Type.Object({
  engines: Type.Array(Type.Object({ target: Type.String({ maxLength: 300 }), ...EngineSchema.properties }), {
    maxItems: MAX_ENGINES,
  }),
});
const isEngines = Compile(Engines);

type PolledAgent = Pick<Agent, "target" | "engine">;

export class EngineFile {
  readonly #file: StateFile<Type.Static<typeof Engines>>;
  readonly #clock: SourceContext["clock"];
  /** What the file has, by target. */
  #written: ReadonlyMap<string, Engine> = new Map();
  #writtenAt: number;

  constructor(name: string, context: SourceContext) {
    this.#file = new StateFile(name, isEngines, context);
    this.#clock = context.clock;
    this.#writtenAt = this.#clock.monotonic();
  }

  /** Before the first poll. */
  async restore(agents: readonly PolledAgent[]): Promise<void> {
    const { engines = [] } = (await this.#file.read()) ?? {};
    this.#written = new Map(engines.map(({ target, ...engine }) => [target, engine]));
    for (const agent of agents) agent.engine = this.#written.get(agent.target.text);
  }

  /** Writes the file when that is due, or when there is anything new and `isLast`. */
  async save(agents: readonly PolledAgent[], { isLast = false } = {}): Promise<void> {
    const engines = new Map(
      agents.flatMap(({ target, engine }) => (engine ? [[target.text, engine] as const] : [])),
    );
    const isDue = isLast || this.#clock.monotonic() - this.#writtenAt >= WRITE_INTERVAL_MS;
    if (!this.#differs(engines, isDue)) return;
    this.#written = engines;
    this.#writtenAt = this.#clock.monotonic();
    await this.#file.write({ engines: [...engines].map(([target, engine]) => ({ target, ...engine })) });
  }

  #differs(engines: ReadonlyMap<string, Engine>, alsoInTime: boolean): boolean {
    if (engines.size !== this.#written.size) return true;
    return engines.entries().some(([target, { id, boots, time }]) => {
      const written = this.#written.get(target);
      return written?.id !== id || written.boots !== boots || (alsoInTime && written.time !== time);
    });
  }
}
