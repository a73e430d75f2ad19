/**
 * A real service in front of several sources. Network documents in files stand in for the sources: a document that is
 * written is what a source reports, a file that is removed is a source that fails.
 */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

export type Json = Readonly<Record<string, unknown>>;
/** A network document, as the `file` source reads it. */
export interface Document {
  readonly devices?: readonly Json[];
  readonly ports?: readonly Json[];
  readonly links?: readonly Json[];
  readonly hosts?: readonly Json[];
}
export interface SourceEntry {
  readonly name: string;
  readonly role?: "observed" | "intended";
  readonly merge?: boolean;
  readonly withdrawAfterSeconds?: number;
}
export interface Entity extends Json {
  readonly id: string;
  readonly sources: readonly string[];
  readonly aliases?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly drift?: { readonly state: string; readonly since: string; readonly fields?: Json };
}

export class MergedService implements AsyncDisposable {
  readonly folder = temporaryFolder();
  #sources: readonly SourceEntry[] = [];
  #service: Service | undefined;

  /** Each source reports its document before the service starts; one without a document has not reported yet. */
  static async start(
    sources: readonly SourceEntry[],
    documents: Readonly<Record<string, Document>>,
    settings: Json = {},
  ): Promise<MergedService> {
    const merged = new MergedService();
    for (const [name, document] of Object.entries(documents)) merged.report(name, document);
    merged.configure(sources, settings);
    await merged.restart();
    for (const name of Object.keys(documents)) await merged.untilStatus(name, "synced");
    return merged;
  }

  get service(): Service {
    if (!this.#service) throw new Error("the service is not running");
    return this.#service;
  }

  configure(sources: readonly SourceEntry[], settings: Json = {}): void {
    this.#sources = sources;
    const entries = sources.map((entry) => ({ type: "file", path: this.#path(entry.name), ...entry }));
    this.#write(
      "gazetteer.yaml",
      JSON.stringify({ data: join(this.folder, "data"), ...settings, sources: entries }),
    );
  }

  /** Starts it, or stops it and starts it again with the same data. */
  async restart(): Promise<void> {
    if (this.#service) await this.#service.stop();
    this.#service = await startService({ args: ["--config", join(this.folder, "gazetteer.yaml")] });
  }

  report(source: string, document: Document): void {
    this.#write(`${source}.json`, JSON.stringify(document));
  }

  /** The source is stale from then on, and keeps its claims. */
  async fail(source: string): Promise<void> {
    rmSync(this.#path(source));
    await this.untilStatus(source, "stale");
  }

  async untilStatus(source: string, status: string): Promise<void> {
    await until(
      async () => {
        const { sources } = await this.get<{ sources: Json[] }>("/readyz", true);
        return sources.find(({ name }) => name === source)?.status === status;
      },
      { what: `${source} to be ${status}` },
    );
  }

  async get<T = Json>(path: string, anyStatus = false): Promise<T> {
    const full = path.startsWith("/readyz") ? path : `/controller/v1${path}`;
    const response = await this.service.fetch(full);
    if (!anyStatus && response.status !== 200)
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return JSON.parse(await response.text());
  }

  async status(path: string): Promise<number> {
    const response = await this.service.fetch(`/controller/v1${path}`);
    await response.text();
    return response.status;
  }

  async list(kind: "devices" | "links" | "hosts" | "ports", query = ""): Promise<Entity[]> {
    const path = kind === "ports" ? "/devices/ports" : `/${kind}`;
    const body = await this.get<Record<string, Entity[]>>(`${path}${query}`);
    return body[kind] ?? [];
  }

  async ids(kind: "devices" | "links" | "hosts", query = ""): Promise<string[]> {
    return (await this.list(kind, query)).map(({ id }) => id);
  }

  async revision(): Promise<number> {
    const response = await this.service.fetch("/controller/v1/topology");
    await response.text();
    return Number(response.headers.get("gazetteer-revision"));
  }

  /** Waits until `condition` holds for the devices; the error shows the last ones. */
  async untilDevices(condition: (devices: Entity[]) => boolean, what: string, query = ""): Promise<Entity[]> {
    let last: Entity[] = [];
    await until(
      async () => {
        last = await this.list("devices", query);
        return condition(last);
      },
      { what },
    ).catch((error: unknown) => {
      const shown = last.map(({ id, sources, aliases, annotations, drift }) => ({
        id, sources, aliases, conflict: annotations?.conflict, drift,
      })); // biome-ignore format: a list of names
      throw new Error(`${what}: ${JSON.stringify(shown)}`, { cause: error });
    });
    return last;
  }

  async untilIds(ids: readonly string[], what = `devices ${ids.join(", ")}`): Promise<Entity[]> {
    const expected = JSON.stringify([...ids].sort());
    return await this.untilDevices(
      (devices) => JSON.stringify(devices.map(({ id }) => id)) === expected,
      what,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.kill();
  }

  #path(source: string): string {
    return join(this.folder, `${source}.json`);
  }

  /** By another name first: a source must not read half a file. */
  #write(name: string, text: string): void {
    const path = join(this.folder, name);
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  get sources(): readonly SourceEntry[] {
    return this.#sources;
  }
}
