/** The events of a service's topology, in the order of its stream. */
import type { Service } from "./service.ts";
import { until } from "./until.ts";

export interface StreamEvent {
  readonly what: "added" | "updated" | "removed";
  readonly resource: string;
  readonly id: string;
  readonly value: Record<string, unknown>;
}

export class EventLog {
  readonly events: StreamEvent[] = [];
  readonly #stream = new AbortController();
  #synced = false;

  /** Resolves when the stream has sent what there is. */
  static async open(service: Service): Promise<EventLog> {
    const log = new EventLog();
    void log.#read(service);
    await until(() => log.#synced, { what: "the event stream" });
    return log;
  }

  close(): void {
    this.#stream.abort();
  }

  /** The events from an index on, as `added links ID`. */
  since(index: number): string[] {
    return this.events.slice(index).map(({ what, resource, id }) => `${what} ${resource} ${id}`);
  }

  async #read(service: Service): Promise<void> {
    const response = await service.fetch("/controller/v1/topology?format=events", {
      signal: this.#stream.signal,
    });
    if (!response.body) throw new Error(`no stream: ${response.status}`);
    let text = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body) {
        text += decoder.decode(chunk, { stream: true });
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          this.#onEvent(text.slice(0, end));
          text = text.slice(end + 2);
        }
      }
    } catch {
      // The stream ends with the service or with the test.
    }
  }

  #onEvent(block: string): void {
    const what = /^event: ?(.*)$/m.exec(block)?.[1];
    if (what === "synced") this.#synced = true;
    if (what !== "added" && what !== "updated" && what !== "removed") return;
    const data: { resource: string; value: Record<string, unknown> } = JSON.parse(
      /^data: ?(.*)$/m.exec(block)?.[1] ?? "",
    );
    this.events.push({ what, resource: data.resource, id: String(data.value.id), value: data.value });
  }
}
