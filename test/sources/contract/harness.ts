/** The service that runs one source of the contract suite, and what it shows. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import type { Shown } from "./row.ts";

export const API = "/controller/v1";
const SOURCE_NAME = "contract";
/** As the system shows it. */
const THREAD_NAME = `source ${SOURCE_NAME}`.slice(0, 15);

export interface SourceView {
  readonly status: string;
  readonly error?: string;
}

export class ContractService implements AsyncDisposable {
  readonly service: Service;
  readonly #config: string;

  constructor(service: Service, config: string) {
    this.service = service;
    this.#config = config;
  }

  static async start(folder: string, entry: object): Promise<ContractService> {
    const config = join(folder, "gazetteer.yaml");
    writeConfig(config, [{ ...entry, name: SOURCE_NAME }]);
    return new ContractService(
      await startService({ args: ["--config", config, "--data", ":memory:"], cwd: folder }),
      config,
    );
  }

  async json(path: string): Promise<Record<string, unknown>> {
    const response = await this.service.fetch(path);
    if (!response.ok && response.status !== 503) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }

  async text(path: string): Promise<string> {
    const response = await this.service.fetch(path);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.text();
  }

  async revision(): Promise<unknown> {
    return (await this.json("/readyz")).revision;
  }

  async source(): Promise<SourceView> {
    const { sources } = await this.json("/readyz");
    const [source] = Array.isArray(sources) ? sources : [];
    return source;
  }

  async shown(): Promise<Shown> {
    const ids = async (kind: "devices" | "links" | "hosts"): Promise<string[]> => {
      const list = (await this.json(`${API}/${kind}`))[kind];
      return Array.isArray(list) ? list.map(({ id }) => String(id)).sort() : [];
    };
    return { devices: await ids("devices"), links: await ids("links"), hosts: await ids("hosts") };
  }

  async refusedRecords(): Promise<number> {
    const metrics = await this.text("/metrics");
    const line = new RegExp(`^gazetteer_records_refused_total\\{source="${SOURCE_NAME}"\\} (\\d+)$`, "m");
    return Number(line.exec(metrics)?.[1] ?? Number.NaN);
  }

  async waitFor(status: string): Promise<SourceView> {
    return until(
      async () => {
        const source = await this.source();
        if (source.status !== status) throw new Error(`the source is ${JSON.stringify(source)}`);
        return source;
      },
      { what: `the status ${status}`, deadlineMs: 60_000, everyMs: 50 },
    );
  }

  async waitForNetwork(expected: Shown): Promise<void> {
    await until(
      async () => {
        const shown = JSON.stringify(await this.shown());
        if (shown !== JSON.stringify(expected)) throw new Error(`shown: ${shown}\n${this.service.stderr()}`);
        return true;
      },
      { what: `the network ${JSON.stringify(expected)}`, deadlineMs: 60_000, everyMs: 50 },
    );
  }

  /** Threads of the service that run the source, and processes that the service has started. */
  runningCount(): number {
    const tasks = `/proc/${this.service.pid}/task`;
    const ids = readdirSync(tasks);
    const threads = ids.filter((id) => readOrEmpty(`${tasks}/${id}/comm`).trim() === THREAD_NAME);
    const children = ids.flatMap((id) => readOrEmpty(`${tasks}/${id}/children`).split(" ").filter(Boolean));
    return threads.length + children.length;
  }

  /** Removes the source from the configuration of the running service. */
  removeSource(): void {
    writeConfig(this.#config, [{ type: "demo", name: "other", devices: 1, hosts: 0, churn: 0 }]);
    process.kill(this.service.pid, "SIGHUP");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
  }
}

/** JSON is YAML. */
const writeConfig = (path: string, sources: readonly object[]): void =>
  writeFileSync(path, JSON.stringify({ sources }, undefined, 1));

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
