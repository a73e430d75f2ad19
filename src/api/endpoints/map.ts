/**
 * What the page reads about the map besides the network: its settings, and the values of a metric on links. All users get
 * the same bytes, so that each is encoded and compressed once.
 */
import type { Response } from "../../http1/response.ts";
import { quote } from "../../lib/error-text.ts";
import type { MapSource, MetricOutcome } from "../map-source.ts";
import { JSON_TYPE } from "../response/media-types.ts";
import { Problem } from "../response/problem.ts";
import { type RequestHeaders, StaticFile } from "../site/static-file.ts";

const SETTINGS_PATH = "/map/settings.json";
const METRICS_PREFIX = "/map/metrics/";
/** Of a service without a configuration for its map. */
const NO_SETTINGS = Buffer.from('{"links":[],"views":[],"metrics":[]}');

export const isMapPath = (path: string): boolean => path === SETTINGS_PATH || path.startsWith(METRICS_PREFIX);

export class MapEndpoints {
  readonly #source: MapSource | undefined;
  /** By the bytes that they serve, for as long as those are served. */
  readonly #files = new WeakMap<Uint8Array, StaticFile>();

  constructor(source: MapSource | undefined) {
    this.#source = source;
  }

  /** Throws a `Problem` for a metric that does not exist or cannot be read. */
  async respond(request: RequestHeaders, path: string): Promise<Response> {
    if (path === SETTINGS_PATH) return this.#file(this.#source?.settings ?? NO_SETTINGS).respond(request);
    const name = decodeName(path.slice(METRICS_PREFIX.length));
    const outcome: MetricOutcome | undefined = await this.#source?.metric(name);
    if (!outcome)
      throw new Problem("not-found", `There is no metric ${quote(name)}; ${SETTINGS_PATH} lists them.`);
    if (!outcome.ok) throw new Problem("metrics-failed", `${name}: ${outcome.message}.`);
    return this.#file(outcome.json).respond(request);
  }

  #file(bytes: Uint8Array): StaticFile {
    const file = this.#files.get(bytes) ?? new StaticFile(bytes, JSON_TYPE);
    this.#files.set(bytes, file);
    return file;
  }
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Problem("bad-path", `${quote(text)} in the path is not percent-encoded UTF-8.`);
  }
}
