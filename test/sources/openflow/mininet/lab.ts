/**
 * Real switches and the service beside them, for one test file: Open vSwitch is started where it does not run, each test
 * has a network and a service of its own, and nothing is left when the file ends.
 */
import { afterAll, afterEach, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../support/until.ts";
import { ensureOvs, type Facts, Mininet, type StartOptions, stopOvs } from "./mininet.ts";
import { Controller } from "./service-under-test.ts";

export const LONG = 120_000;

export class Lab {
  /** A folder of this file's own. */
  readonly folder = mkdtempSync(join(tmpdir(), "gazetteer-mininet-"));
  readonly mininet = new Mininet();
  controller: Controller | undefined;
  #ovsIsOurs = false;
  #runs = 0;

  async open(): Promise<void> {
    await this.mininet.ready();
    this.#ovsIsOurs = ensureOvs();
  }

  /** Where the service of the running test keeps what it knows. */
  get data(): string {
    return join(this.folder, `data-${this.#runs}`);
  }

  /** A service, and a network whose switches it shows. */
  async network(
    topology: string,
    options: Record<string, unknown> = {},
    start: StartOptions = {},
  ): Promise<[Controller, Facts]> {
    this.#runs++;
    const started = await Controller.start(this.data, "127.0.0.1:0", options);
    this.controller = started;
    const facts = await this.mininet.start(topology, started.openflowPort, start);
    await started.shows(facts);
    return [started, facts];
  }

  /** Hosts can talk from end to end; from then on every ping must get through. */
  async forwards(facts: Facts): Promise<void> {
    const [first, last] = [facts.hosts[0]?.name ?? "", facts.hosts.at(-1)?.name ?? ""];
    await until(() => this.mininet.ping(first, last), { what: "the first ping", deadlineMs: 60_000 });
  }

  async endTest(): Promise<void> {
    await this.mininet.stop();
    await this.controller?.stop();
    this.controller = undefined;
  }

  async close(): Promise<void> {
    // Before the turn passes on: the next must not find an Open vSwitch that is about to stop.
    if (this.#ovsIsOurs) stopOvs();
    await this.mininet.close();
    rmSync(this.folder, { recursive: true });
  }
}

/** The lab of a `describe`, open while its tests run. */
export function useLab(): { readonly lab: Lab } {
  const held: { lab: Lab | undefined } = { lab: undefined };
  beforeAll(async () => {
    held.lab = new Lab();
    await held.lab.open();
  }, 5 * LONG);
  afterEach(() => held.lab?.endTest(), LONG);
  afterAll(() => held.lab?.close(), LONG);
  return {
    get lab() {
      if (!held.lab) throw new Error("the lab is not open");
      return held.lab;
    },
  };
}
