/**
 * Attacks the listener with random bytes, with well-framed messages that have random bodies, and with valid messages
 * whose bytes were changed, truncated or repeated, before and after the handshake. `npm test` runs a fixed number of
 * cases; run this file for any number: `bun test/sources/openflow/fuzz.ts 1000000 [SEED]`.
 */
import captured from "../../../src/sources/openflow/codec/fixtures/ovs-3.1.0.json";
import { until } from "../../support/until.ts";
import { type RunningSource, startSource } from "./harness.ts";
import { buildNetwork, line } from "./topologies.ts";

const VALID_MESSAGES = captured.messages.map(({ hex }) => Buffer.from(hex, "hex"));
const HANDSHAKE = ["hello", "featuresReply", "multipartReply"].flatMap((kind) =>
  captured.messages.filter(({ message }) => message === kind).map(({ hex }) => Buffer.from(hex, "hex")),
);

/** Deterministic: a failure can be reproduced with its seed. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function hostileBytes(randomBelow: (limit: number) => number): Buffer {
  const shape = randomBelow(4);
  const random = Buffer.from(Array.from({ length: randomBelow(200) }, () => randomBelow(256)));
  if (shape === 0) return random;
  if (shape === 1) {
    const head = Buffer.from([4, randomBelow(30), 0, 0, 0, 0, 0, randomBelow(256)]);
    head.writeUInt16BE(randomBelow(10) === 0 ? randomBelow(0x10000) : random.length + 8, 2);
    return Buffer.concat([head, random]);
  }
  const message = Buffer.from(VALID_MESSAGES[randomBelow(VALID_MESSAGES.length)] ?? []);
  for (let changes = randomBelow(6); changes > 0; changes--)
    message[randomBelow(message.length)] = randomBelow(256);
  // Mostly keeps the length valid, so that the body decoders are reached.
  if (randomBelow(4) > 0) message.writeUInt16BE(message.length, 2);
  return shape === 2 ? message : message.subarray(0, randomBelow(message.length));
}

async function attack(port: number, randomBelow: (limit: number) => number): Promise<void> {
  const parts: Buffer[] = [];
  if (randomBelow(3) > 0) {
    // Completes the handshake with another datapath id, so that the decoders behind it are reached.
    parts.push(
      ...HANDSHAKE.map((message) => {
        const copy = Buffer.from(message);
        if (copy[1] === 6) copy.writeUInt32BE(0xf0000000 + randomBelow(64), 8);
        return copy;
      }),
    );
  }
  for (let count = 1 + randomBelow(4); count > 0; count--) parts.push(hostileBytes(randomBelow));
  const bytes = Buffer.concat(parts);
  const cut = randomBelow(2) === 0 ? bytes.length : randomBelow(bytes.length);
  await new Promise<void>((resolve) => {
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (socket) => {
          socket.write(bytes.subarray(0, cut));
          if (cut < bytes.length) socket.write(bytes.subarray(cut));
          if (randomBelow(4) > 0) socket.end();
          else setTimeout(() => socket.terminate(), 5);
        },
        data: () => {},
        error: () => {},
        close: () => resolve(),
      },
    }).catch(() => resolve());
  });
}

const PARALLEL_ATTACKS = 20;
/** More than the garbage collector leaves, less than one leaked session per case. */
export const MAX_HEAP_GROWTH_MIB = 8;

export interface FuzzResult {
  readonly source: RunningSource;
  readonly honestSessions: number;
  readonly honestLinks: number;
  /** Heap growth during the last two thirds of the cases. The first third is the warm-up. */
  readonly heapGrowthMiB: number;
}

function heapMiB(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Attacks while two honest switches are connected. Returns what is left of their sessions and links. */
export async function fuzz(cases: number, seed: number): Promise<FuzzResult> {
  const randomBelow = createRandom(seed);
  const source = await startSource({ removeAfterMs: 100 });
  const network = buildNetwork(2, line(2));
  try {
    await network.net.connect({ port: source.port });
    await until(() => source.sink.links.size === 2, { what: "the honest link" });
    const honestLinks = () =>
      [...source.sink.links.keys()].filter((id) => /^of:0+1\/2-of:0+2\/2$|^of:0+2\/2-of:0+1\/2$/.test(id));
    const runAttacks = async (count: number) => {
      for (let done = 0; done < count; done += PARALLEL_ATTACKS) {
        await Promise.all(Array.from({ length: PARALLEL_ATTACKS }, () => attack(source.port, randomBelow)));
        source.sink.changeLog.length = 0;
      }
      await until(() => source.metric("sessions") === 2, { what: "every hostile session ended" });
      await until(() => source.sink.devices.size === 2, { what: "every invented switch removed" });
    };
    await runAttacks(cases / 3);
    const warm = heapMiB();
    await runAttacks((cases * 2) / 3);
    const heapGrowthMiB = heapMiB() - warm;
    const sessions = [...network.net.switches.values()].filter((sw) => sw.connected).length;
    return { source, honestSessions: sessions, honestLinks: honestLinks().length, heapGrowthMiB };
  } finally {
    network.net.disconnect();
    await source.stop();
  }
}

if (import.meta.main) {
  const [cases = "100000", seed = String(Date.now())] = process.argv.slice(2);
  const started = performance.now();
  const { honestSessions, honestLinks, heapGrowthMiB } = await fuzz(Number(cases), Number(seed));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${cases} cases, seed ${seed}, ${seconds} s, ${heapGrowthMiB.toFixed(1)} MiB heap growth; ${honestSessions} honest sessions, ${honestLinks} links`,
  );
  process.exit(honestSessions === 2 && honestLinks === 2 && heapGrowthMiB < MAX_HEAP_GROWTH_MIB ? 0 : 1);
}
