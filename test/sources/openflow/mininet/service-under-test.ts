/** A running service with an OpenFlow source, its API and its event stream, for the Mininet tests. */
import type { Device, Host, Link, Port } from "../../../../src/model/entity.ts";
import { EventLog, type StreamEvent } from "../../../support/event-log.ts";
import { type Service, startService } from "../../../support/service.ts";
import { until } from "../../../support/until.ts";
import type { MininetNetwork } from "./mininet.ts";

/** The port on which the service accepts switches. */
async function openflowPortOf(service: Service): Promise<number> {
  const port = await until(() => /openflow listening on \S+:(\d+)/.exec(service.stderr())?.[1], {
    what: "the OpenFlow listener",
  });
  return Number(port);
}

export class ServiceUnderTest {
  readonly service: Service;
  readonly openflowPort: number;
  readonly #log: EventLog;

  constructor(service: Service, openflowPort: number, log: EventLog) {
    this.service = service;
    this.openflowPort = openflowPort;
    this.#log = log;
  }

  static async start(
    data: string,
    openflow: string,
    options: Record<string, unknown> = {},
  ): Promise<ServiceUnderTest> {
    const defaults = { type: "openflow", listen: openflow, forwarding: "bridge", probeIntervalMs: 1000 };
    const source = JSON.stringify({ ...defaults, ...options });
    const config = `${data}-config.yaml`;
    await Bun.write(config, `sources:\n  - ${source}\n`);
    const service = await startService({ args: ["--data", data, "--config", config] });
    return new ServiceUnderTest(service, await openflowPortOf(service), await EventLog.open(service));
  }

  get events(): readonly StreamEvent[] {
    return this.#log.events;
  }

  async #get(path: string): Promise<Record<string, unknown>> {
    const response = await this.service.fetch(`/controller/v1/${path}`);
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    const body: Record<string, unknown> = await response.json();
    return body;
  }

  async devices(): Promise<Device[]> {
    return (await this.#get("devices")).devices as Device[];
  }

  async links(): Promise<Link[]> {
    return (await this.#get("links")).links as Link[];
  }

  async hosts(): Promise<Host[]> {
    return (await this.#get("hosts")).hosts as Host[];
  }

  async ports(): Promise<Port[]> {
    return (await this.#get("devices/ports")).ports as Port[];
  }

  /** Like `until`; the error contains the log of the service. */
  async #until(condition: () => Promise<boolean>, what: string): Promise<void> {
    await until(condition, { what, deadlineMs: 60_000, everyMs: 50 }).catch((error: unknown) => {
      throw new Error(`timeout: ${what}; log of the service:\n${this.service.stderr().slice(-4000)}`, {
        cause: error,
      });
    });
  }

  /** Waits until the devices and both directions of all links are exactly those of Mininet. */
  async waitForNetwork(network: MininetNetwork, exceptDevices: readonly string[] = []): Promise<void> {
    const links = network.links
      .filter((pair) => !pair.some(({ device }) => exceptDevices.includes(device)))
      .flatMap(([a, b]) => [
        `${a.device}/${a.port}-${b.device}/${b.port}`,
        `${b.device}/${b.port}-${a.device}/${a.port}`,
      ])
      .sort();
    const devices = Object.keys(network.ports).filter((id) => !exceptDevices.includes(id));
    await this.#until(async () => {
      const activeLinks = (await this.links()).filter((link) => link.state === "ACTIVE");
      const available = (await this.devices()).filter((device) => device.available).map(({ id }) => id);
      return (
        sameElements(
          activeLinks.map(({ id }) => id),
          links,
        ) && sameElements(available, devices)
      );
    }, `${devices.length} devices and ${links.length} links`);
  }

  /** Waits until every host is shown with its address at its port. */
  async waitForHosts(network: MininetNetwork, except: readonly string[] = []): Promise<void> {
    const expected = network.hosts.filter(({ name }) => !except.includes(name));
    await this.#until(async () => {
      const hosts = await this.hosts();
      const found = expected.every(({ mac, ip, at }) => {
        const host = hosts.find((one) => one.id === `${mac}/None`);
        const location = host?.locations.map(({ elementId, port }) => `${elementId}/${port}`).join();
        return host?.ipAddresses.includes(ip) === true && location === `${at.device}/${at.port}`;
      });
      return found && hosts.length === expected.length;
    }, `${expected.length} hosts`);
  }

  /** The events from an index on, as `added links ID`. */
  eventsSince(index: number): string[] {
    return this.#log.since(index);
  }

  async stop(): Promise<void> {
    this.#log.close();
    await this.service.stop();
  }
}

const sameElements = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join("\n") === [...b].sort().join("\n");
