/** Gazetteers that read from each other, as processes on ports that are known before they start. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceStatus } from "../../../src/model/source-status.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { type Service, startService } from "../../support/service.ts";

export const CREDENTIALS = "reader:secret";

export interface Node {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  readonly dataDir: string;
  /** Starts it with these entries, or with those of the last start. */
  start(sources?: readonly object[]): Promise<Service>;
  /** Writes the configuration for a reload. */
  configure(sources: readonly object[]): void;
}

export function createNode(name: string, options: { readonly dataDir?: string } = {}): Node {
  const folder = join(temporaryFolder(), name);
  mkdirSync(folder);
  const config = join(folder, "gazetteer.json");
  const { dataDir = join(folder, "data") } = options;
  const port = freePort();
  const configure = (sources: readonly object[]) =>
    writeFileSync(config, JSON.stringify({ data: dataDir, sources, aliases: ["onos"] }));
  return {
    name,
    port,
    url: `http://127.0.0.1:${port}/controller/v1`,
    dataDir,
    configure,
    start(sources) {
      if (sources) configure(sources);
      return startService({ port, credentials: CREDENTIALS, args: ["--config", config] });
    },
  };
}

/** The entry of a source that reads from the node. */
export const reads = (node: Pick<Node, "name" | "url">, options: object = {}) => ({
  type: "controller",
  name: `from-${node.name}`,
  url: node.url,
  credentials: CREDENTIALS,
  intervalSeconds: 1,
  ...options,
});

export async function statusOf(service: Service, source: string): Promise<SourceStatus | undefined> {
  const body: { sources?: SourceStatus[] } = JSON.parse(await (await service.fetch("/readyz")).text());
  return body.sources?.find(({ name }) => name === source);
}

const OWN_FIELDS = ["sources", "firstSeen", "lastChanged", "revision"];
type Entity = Readonly<Record<string, unknown>>;

/** The whole view, without what each service adds itself, and its revision. */
export async function viewOf(
  service: Service,
): Promise<{ revision: number; entities: Record<string, Entity[]> }> {
  const revisions = new Set<string | null>();
  const entities: Record<string, Entity[]> = {};
  for (const [kind, path] of [
    ["devices", "devices"],
    ["ports", "devices/ports"],
    ["links", "links"],
    ["hosts", "hosts"],
  ] as const) {
    const response = await service.fetch(`/controller/v1/${path}`);
    revisions.add(response.headers.get("gazetteer-revision"));
    const body: Record<string, Entity[]> = JSON.parse(await response.text());
    entities[kind] = (body[kind] ?? []).map((entity) =>
      Object.fromEntries(Object.entries(entity).filter(([field]) => !OWN_FIELDS.includes(field))),
    );
  }
  if (revisions.size > 1) throw new Error("the view changed between two reads");
  return { revision: Number([...revisions][0]), entities };
}
