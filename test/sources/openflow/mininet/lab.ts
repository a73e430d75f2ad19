/**
 * Real switches and a service for one test file. Open vSwitch is started where it does not run, each test has its own
 * network and service, and nothing is left when the file ends.
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
  readonly folder = mkdtempSync(join(tmpdir(), "gazetteer-mininet-"));
  readonly mininet = new Mininet();
  serviceUnderTest: ServiceUnderTest | undefined;
  #startedOvs = false;
  #runs = 0;

  async open(): Promise<void> {
    await this.mininet.ready();
    this.#startedOvs = ensureOvs();
  }

  /** The data folder of the running test's service. */
  get data(): string {
    return join(this.folder, `data-${this.#runs}`);
  }

  /** Starts a service and a network, and waits until the service shows it. */
  async startNetwork(
    topology: string,
    options: Record<string, unknown> = {},
    start: StartOptions = {},
  ): Promise<[ServiceUnderTest, MininetNetwork]> {
    this.#runs++;
    const service = await ServiceUnderTest.start(this.data, "127.0.0.1:0", options);
    this.serviceUnderTest = service;
    const network = await this.mininet.start(topology, service.openflowPort, start);
    await service.waitForNetwork(network);
    return [service, network];
  }

  /** Waits until the first host reaches every other one: all edge ports have settled. From then on no ping may be lost. */
  async waitForForwarding({ hosts: [first, ...others] }: MininetNetwork): Promise<void> {
    for (const { name } of others)
      await until(() => this.mininet.ping(first?.name ?? "", name), {
        what: `the first ping to ${name}`,
        deadlineMs: 60_000,
      });
  }

  async endTest(): Promise<void> {
    try {
      await this.mininet.stop();
    } finally {
      await this.serviceUnderTest?.stop();
      this.serviceUnderTest = undefined;
    }
  }

  async close(): Promise<void> {
    // Before the lock is released: the next driver must not find an Open vSwitch that is about to stop.
    if (this.#startedOvs) stopOvs();
    await this.mininet.close();
    rmSync(this.folder, { recursive: true });
  }
}

/** The lab of a `describe`; it is open while its tests run. */
export function useLab(): { readonly lab: Lab } {
  const current: { lab: Lab | undefined } = { lab: undefined };
  beforeAll(async () => {
    current.lab = new Lab();
    await current.lab.open();
  }, 5 * TEST_TIMEOUT_MS);
  afterEach(() => current.lab?.endTest(), TEST_TIMEOUT_MS);
  afterAll(() => current.lab?.close(), TEST_TIMEOUT_MS);
  return {
    get lab() {
      if (!current.lab) throw new Error("the lab is not open");
      return current.lab;
    },
  };
}
