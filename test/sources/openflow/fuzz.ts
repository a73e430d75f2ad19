/**
 * Hostile peers for the listener: random bytes, well-framed messages with random bodies, and true messages with bytes
 * changed, cut or repeated, before and after the handshake. `npm test` runs a fixed number; run this file by itself
 * for as many as you like: `bun test/sources/openflow/fuzz.ts 1000000 [SEED]`.
 */
import captured from "../../../src/sources/openflow/codec/fixtures/ovs-3.1.0.json";
import { until } from "../../support/until.ts";
import { type RunningSource, startSource } from "./harness.ts";
import { buildNetwork, line } from "./topologies.ts";

const TRUE_MESSAGES = captured.messages.map(({ hex }) => Buffer.from(hex, "hex"));
const HANDSHAKE = ["hello", "featuresReply", "multipartReply"].flatMap((kind) =>
  captured.messages.filter(({ message }) => message === kind).map(({ hex }) => Buffer.from(hex, "hex")),
);

/** Small, fast and the same everywhere: a failure is found again by its seed. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function hostileBytes(below: (limit: number) => number): Buffer {
  const shape = below(4);
  const random = Buffer.from(Array.from({ length: below(200) }, () => below(256)));
  if (shape === 0) return random;
  if (shape === 1) {
    const head = Buffer.from([4, below(30), 0, 0, 0, 0, 0, below(256)]);
    head.writeUInt16BE(below(10) === 0 ? below(0x10000) : random.length + 8, 2);
    return Buffer.concat([head, random]);
  }
  const message = Buffer.from(TRUE_MESSAGES[below(TRUE_MESSAGES.length)] ?? []);
  for (let changes = below(6); changes > 0; changes--) message[below(message.length)] = below(256);
  // Mostly leave the length true, so that it is the bodies that are tried.
  if (below(4) > 0) message.writeUInt16BE(message.length, 2);
  return shape === 2 ? message : message.subarray(0, below(message.length));
}

async function attack(port: number, below: (limit: number) => number): Promise<void> {
  const parts: Buffer[] = [];
  if (below(3) > 0) {
    // Through the handshake under a datapath id of its own, so that the bodies behind it are reached.
    parts.push(
      ...HANDSHAKE.map((message) => {
        const copy = Buffer.from(message);
        if (copy[1] === 6) copy.writeUInt32BE(0xf0000000 + below(64), 8);
        return copy;
      }),
    );
  }
  for (let count = 1 + below(4); count > 0; count--) parts.push(hostileBytes(below));
  const bytes = Buffer.concat(parts);
  const cut = below(2) === 0 ? bytes.length : below(bytes.length);
  await new Promise<void>((resolve) => {
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (socket) => {
          socket.write(bytes.subarray(0, cut));
          if (cut < bytes.length) socket.write(bytes.subarray(cut));
          if (below(4) > 0) socket.end();
          else setTimeout(() => socket.terminate(), 5);
        },
        data: () => {},
        error: () => {},
        close: () => resolve(),
      },
    }).catch(() => resolve());
  });
}

const AT_ONCE = 20;
/** More than a collector leaves behind, less than a leaked session a case would. */
export const MAX_GROWN_MIB = 8;

export interface FuzzResult {
  readonly source: RunningSource;
  readonly honestSessions: number;
  readonly honestLinks: number;
  /** What the last two thirds of the cases added to the heap; what the first third did is warming up. */
  readonly grownMiB: number;
}

function heapMiB(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Attacks while two honest switches stand by; what is left of those is the result. */
export async function fuzz(cases: number, seed: number): Promise<FuzzResult> {
  const below = generator(seed);
  const source = await startSource({ removeAfterMs: 100 });
  const built = buildNetwork(2, line(2));
  try {
    await built.net.connect({ port: source.port });
    await until(() => source.sink.links.size === 2, { what: "the honest link" });
    const honest = () =>
      [...source.sink.links.keys()].filter((id) => /^of:0+1\/2-of:0+2\/2$|^of:0+2\/2-of:0+1\/2$/.test(id));
    const assault = async (count: number) => {
      for (let done = 0; done < count; done += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, () => attack(source.port, below)));
        source.sink.changeLog.length = 0;
      }
      await until(() => source.metric("sessions") === 2, { what: "every hostile session ended" });
      await until(() => source.sink.devices.size === 2, { what: "every invented switch removed" });
    };
    await assault(cases / 3);
    const warm = heapMiB();
    await assault((cases * 2) / 3);
    const grownMiB = heapMiB() - warm;
    const sessions = [...built.net.switches.values()].filter((sw) => sw.connected).length;
    return { source, honestSessions: sessions, honestLinks: honest().length, grownMiB };
  } finally {
    built.net.disconnect();
    await source.stop();
  }
}

if (import.meta.main) {
  const [cases = "100000", seed = String(Date.now())] = process.argv.slice(2);
  const started = performance.now();
  const { honestSessions, honestLinks, grownMiB } = await fuzz(Number(cases), Number(seed));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${cases} cases, seed ${seed}, ${seconds} s, ${grownMiB.toFixed(1)} MiB grown; ${honestSessions} honest sessions, ${honestLinks} links`,
  );
  process.exit(honestSessions === 2 && honestLinks === 2 && grownMiB < MAX_GROWN_MIB ? 0 : 1);
}
