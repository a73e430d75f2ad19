/** The whole service with an OpenFlow source, its API and its events, as the Mininet tests use them. */
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
    const controller = new ServiceUnderTest(service, Number(port));
    void controller.#readStream();
    await until(() => controller.#synced, { what: "the event stream" });
    return controller;
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

  /** As `until`, and tells what the service said when it is in vain. */
  async #until(condition: () => Promise<boolean>, what: string): Promise<void> {
    await until(condition, { what, deadlineMs: 60_000, everyMs: 50 }).catch((error: unknown) => {
      throw new Error(`${what}: not seen; the service said\n${this.service.stderr().slice(-4000)}`, {
        cause: error,
      });
    });
  }

  /** Until devices, ports and both directions of all links are exactly those of Mininet. */
  async waitForNetwork(facts: MininetNetwork, without: readonly string[] = []): Promise<void> {
    const links = facts.links
      .filter((pair) => !pair.some(({ device }) => without.includes(device)))
      .flatMap(([a, b]) => [
        `${a.device}/${a.port}-${b.device}/${b.port}`,
        `${b.device}/${b.port}-${a.device}/${a.port}`,
      ])
      .sort();
    const devices = Object.keys(facts.ports).filter((id) => !without.includes(id));
    await this.#until(async () => {
      const shown = (await this.links()).filter((link) => link.state === "ACTIVE");
      const available = (await this.devices()).filter((device) => device.available).map(({ id }) => id);
      return (
        same(
          shown.map(({ id }) => id),
          links,
        ) && same(available, devices)
      );
    }, `${devices.length} devices and ${links.length} links`);
  }

  /** Until every host is there, with its address, where it is plugged in. */
  async waitForHosts(facts: MininetNetwork, but: readonly string[] = []): Promise<void> {
    const wanted = facts.hosts.filter(({ name }) => !but.includes(name));
    await this.#until(async () => {
      const hosts = await this.hosts();
      const found = wanted.every(({ mac, ip, at }) => {
        const host = hosts.find((one) => one.id === `${mac}/None`);
        const place = host?.locations.map(({ elementId, port }) => `${elementId}/${port}`).join();
        return host?.ipAddresses.includes(ip) === true && place === `${at.device}/${at.port}`;
      });
      return found && hosts.length === wanted.length;
    }, `${wanted.length} hosts`);
  }

  /** What was told since a mark, as `added links ID`. */
  eventsSince(mark: number): string[] {
    return this.events.slice(mark).map(({ what, resource, id }) => `${what} ${resource} ${id}`);
  }

  async stop(): Promise<void> {
    this.#stream.abort();
    await this.service.stop();
  }
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join("\n") === [...b].sort().join("\n");
