/**
 * The controllers that reads are forwarded to: those of the configured sources, each with its URL, credentials and limits.
 * A reload replaces them. Forwarded requests in flight complete with the old ones.
 */
import Value from "typebox/value";
import type { Forwarder, ForwardTarget } from "../api/forwarding/forwarding.ts";
import type { Config } from "../config/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { ControllerOptions } from "../sources/controller/controller.ts";
import { DEFAULT_MAX_RESPONSE_BYTES, Upstream } from "../sources/upstream/upstream.ts";

export class ControllerForwarder implements Forwarder {
  readonly #clock: Clock;
  /** The target of each resource, by its name in the option `forward`. */
  #targets: ReadonlyMap<string, ForwardTarget> = new Map();

  constructor(sources: Config["sources"], clock: Clock) {
    this.#clock = clock;
    this.update(sources);
  }

  update(sources: Config["sources"]): void {
    const targets = new Map<string, ForwardTarget>();
    for (const { type, name = type, ...given } of sources) {
      if (type !== "controller") continue;
      // The default values are written into the options, and the configuration is frozen.
      const options = Value.Default(ControllerOptions, structuredClone(given));
      if (!Value.Check(ControllerOptions, options)) continue;
      for (const resource of options.forward ?? [])
        targets.set(resource, createTarget(String(name), resource, options, this.#clock));
    }
    this.#targets = targets;
  }

  get isEmpty(): boolean {
    return this.#targets.size === 0;
  }

  targetOf(resource: string): ForwardTarget | undefined {
    return this.#targets.get(resource);
  }
}

function createTarget(
  source: string,
  resource: string,
  options: ControllerOptions,
  clock: Clock,
): ForwardTarget {
  const url = resource.startsWith("/") ? contextUrl(options.url, resource) : options.url;
  const upstream = new Upstream({ ...options, url }, { clock });
  return {
    source,
    maxResponseBytes: options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    request: ({ path, ...request }) => upstream.stream(path, { ...request, anyStatus: true }),
  };
}

/** The URL of another context of ONOS's server. Contexts are siblings of the REST API: `/onos/sadis` is beside `/onos/v1`. */
function contextUrl(url: string, context: string): string {
  const beside = new URL(url);
  beside.pathname = beside.pathname
    .replace(/\/+$/, "")
    .replace(/[^/]*$/, context.slice(context.lastIndexOf("/") + 1));
  return beside.href;
}
