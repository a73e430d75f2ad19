/** A running service with an OpenFlow source, its API and its event stream, for the Mininet tests. */
import type { Device, Host, Link, Port } from "../../../../src/model/entity.ts";
import { type Service, startService } from "../../../support/service.ts";
import { until } from "../../../support/until.ts";
import type { MininetNetwork } from "./mininet.ts";

export interface StreamEvent {
  readonly what: "added" | "updated" | "removed";
  readonly resource: string;
  readonly id: string;
  readonly value: Record<string, unknown>;
}

export class ServiceUnderTest {
  readonly service: Service;
  readonly openflowPort: number;
  readonly events: StreamEvent[] = [];
  readonly #stream = new AbortController();

  private constructor(service: Service, openflowPort: number) {
    this.service = service;
    this.openflowPort = openflowPort;
  }

  static async start(
    data: string,
    openflow: string,
    options: Record<string, unknown> = {},
  ): Promise<ServiceUnderTest> {
    const source = JSON.stringify({ type: "openflow", listen: openflow, probeIntervalMs: 1000, ...options });
    const config = `${data}-config.yaml`;
    await Bun.write(config, `sources:\n  - ${source}\n`);
    const service = await startService({ args: ["--data", data, "--config", config] });
    const port = await until(() => /openflow listening on \S+:(\d+)/.exec(service.stderr())?.[1], {
      what: "the OpenFlow listener",
    });
    const started = new ServiceUnderTest(service, Number(port));
    void started.#readStream();
    await until(() => started.#synced, { what: "the event stream" });
    return started;
  }

  #synced = false;

  async #readStream(): Promise<void> {
    const response = await this.service.fetch("/controller/v1/topology?format=events", {
      signal: this.#stream.signal,
    });
    if (!response.body) throw new Error(`no stream: ${response.status}`);
    let text = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body) {
        text += decoder.decode(chunk, { stream: true });
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          this.#event(text.slice(0, end));
          text = text.slice(end + 2);
        }
      }
    } catch {
      // The stream ends with the service or with the test.
    }
  }

  #event(block: string): void {
    const what = /^event: ?(.*)$/m.exec(block)?.[1];
    if (what === "synced") this.#synced = true;
    if (what !== "added" && what !== "updated" && what !== "removed") return;
    const data: { resource: string; value: Record<string, unknown> } = JSON.parse(
      /^data: ?(.*)$/m.exec(block)?.[1] ?? "",
    );
    this.events.push({ what, resource: data.resource, id: String(data.value.id), value: data.value });
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
    return this.events.slice(index).map(({ what, resource, id }) => `${what} ${resource} ${id}`);
  }

  async stop(): Promise<void> {
    this.#stream.abort();
    await this.service.stop();
  }
}

const sameElements = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join("\n") === [...b].sort().join("\n");
