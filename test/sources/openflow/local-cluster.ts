/** A cluster within the process: what one node relays, the one that runs the source accepts. */
import type { ByteChannel, ByteHandler } from "../../../src/lib/byte-channel.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createLogger } from "../../../src/lib/logger.ts";
import { createOpenflowSource } from "../../../src/sources/openflow/openflow.ts";
import type { OpenflowOptions } from "../../../src/sources/openflow/options.ts";
import type { SourceCluster } from "../../../src/sources/source.ts";
import { until } from "../../support/until.ts";
import { FAST_OPTIONS } from "./harness.ts";

type Accept = Parameters<SourceCluster["acceptChannels"]>[1];

class End implements ByteChannel {
  readonly backlogBytes = 0;
  handler: ByteHandler | undefined;
  other: End | undefined;
  isClosed = false;

  send(bytes: Uint8Array): void {
    const copy = bytes.slice();
    queueMicrotask(() => this.other?.handler?.onData(copy));
  }

  close(reason: string, byPeer = false): void {
    if (this.isClosed) return;
    queueMicrotask(() => {
      for (const [end, isByPeer] of [
        [this.other, byPeer],
        [this, false],
      ] as const) {
        if (!end || end.isClosed) continue;
        end.isClosed = true;
        end.handler?.onClose(reason, isByPeer);
      }
    });
  }

  terminate(): void {
    this.close("terminated");
  }

  pause(): void {}
  resume(): void {}
}

export class LocalCluster {
  generation = 1n;
  #accept: Accept | undefined;

  node(name: string): SourceCluster {
    return {
      deriveKey: () => new Uint8Array(32),
      generationOf: () => this.generation,
      acceptChannels: (_, accept) => {
        this.#accept = accept;
        return () => {
          this.#accept = undefined;
        };
      },
      connectToHolder: () => ({ open: (opening, handler) => this.#open(opening, handler, name) }),
    };
  }

  #open(opening: unknown, handler: ByteHandler, node: string): ByteChannel | undefined {
    if (!this.#accept) return undefined;
    const [here, there] = [new End(), new End()];
    [here.other, there.other] = [there, here];
    here.handler = handler;
    there.handler = this.#accept(opening, there, node);
    if (!there.handler) here.close("refused");
    return here;
  }
}

/** A node that relays its switches. Returns its port. */
export async function startRelay(
  cluster: SourceCluster,
  options: Partial<OpenflowOptions>,
  signal: AbortSignal,
): Promise<number> {
  let port = 0;
  const log = createLogger((line) => {
    port ||= Number(/openflow listening on \S+:(\d+)/.exec(line)?.[1] ?? 0);
  });
  const context = { clock: systemClock, log, cluster: () => cluster };
  const source = createOpenflowSource({ ...FAST_OPTIONS, ...options, name: "openflow" }, context);
  void source.standBy?.(signal);
  await until(() => port > 0, { what: "the listener of a relay" });
  return port;
}
