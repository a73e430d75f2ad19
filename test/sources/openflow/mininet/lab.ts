/**
 * Real switches and the service beside them, for one test file: Open vSwitch is started where it does not run, each test
 * has a network and a service of its own, and nothing is left when the file ends.
 */
import { afterAll, afterEach, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../support/until.ts";
import { ensureOvs, Mininet, type MininetNetwork, type StartOptions, stopOvs } from "./mininet.ts";
import { ServiceUnderTest } from "./service-under-test.ts";

export const TEST_TIMEOUT_MS = 120_000;

export class Lab {
  /** A folder of this file's own. */
  readonly folder = mkdtempSync(join(tmpdir(), "gazetteer-mininet-"));
  readonly mininet = new Mininet();
  serviceUnderTest: ServiceUnderTest | undefined;
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
  async startNetwork(
    topology: string,
    options: Record<string, unknown> = {},
    start: StartOptions = {},
  ): Promise<[ServiceUnderTest, MininetNetwork]> {
    this.#runs++;
    const started = await ServiceUnderTest.start(this.data, "127.0.0.1:0", options);
    this.serviceUnderTest = started;
    const facts = await this.mininet.start(topology, started.openflowPort, start);
    await started.waitForNetwork(facts);
    return [started, facts];
  }

  /** Hosts can talk from end to end; from then on every ping must get through. */
  async waitForForwarding(facts: MininetNetwork): Promise<void> {
    const [first, last] = [facts.hosts[0]?.name ?? "", facts.hosts.at(-1)?.name ?? ""];
    await until(() => this.mininet.ping(first, last), { what: "the first ping", deadlineMs: 60_000 });
  }

  async endTest(): Promise<void> {
    await this.mininet.stop();
    await this.serviceUnderTest?.stop();
    this.serviceUnderTest = undefined;
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
  }, 5 * TEST_TIMEOUT_MS);
  afterEach(() => held.lab?.endTest(), TEST_TIMEOUT_MS);
  afterAll(() => held.lab?.close(), TEST_TIMEOUT_MS);
  return {
    get lab() {
      if (!held.lab) throw new Error("the lab is not open");
      return held.lab;
    },
  };
}
