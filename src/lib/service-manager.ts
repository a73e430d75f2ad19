/**
 * Reports the state of this process to systemd, which starts it with `Type=notify` and gives it the address of a socket:
 * that it is still starting, ready, alive (the watchdog) or stopping, and a line for `systemctl status`. Without such a
 * socket nothing is sent. Bun has no datagram sockets of the Unix family, so the functions of the C library are called.
 */
import type { Clock } from "./clock.ts";

type Environment = Readonly<Record<string, string | undefined>>;
/** Sends one datagram. One that cannot be sent at once is lost, which is harmless: what matters is sent again. */
type Send = (message: string) => void;

/** How much more time a start requests at a time. */
const START_EXTENSION_MS = 60_000;
const START_REPORT_MS = 10_000;
/** Restoring a log is faster than this on every disk. The event loop is blocked meanwhile, so nothing can be sent. */
const MIN_RESTORED_BYTES_PER_MS = 2000;
const STATUS_INTERVAL_MS = 30_000;

export async function openServiceManager(env: Environment, clock: Clock): Promise<ServiceManager> {
  const address = env.NOTIFY_SOCKET ?? "";
  const isSocket = /^[/@]./.test(address);
  // Where there is no glibc (Alpine), there is no systemd either, and the service runs without.
  const send = isSocket ? await openDatagramSocket(address).catch(() => undefined) : undefined;
  return new ServiceManager(send, watchdogIntervalOf(env), clock);
}

export class ServiceManager {
  readonly #send: Send | undefined;
  readonly #watchdogMs: number | undefined;
  readonly #clock: Clock;
  readonly #started = new AbortController();
  readonly #stopped = new AbortController();

  constructor(send: Send | undefined, watchdogMs: number | undefined, clock: Clock) {
    this.#send = send;
    this.#watchdogMs = watchdogMs;
    this.#clock = clock;
  }

  /** Keeps the start from timing out until `ready`. `logBytes` is the size of what has to be restored. */
  starting(logBytes: number): void {
    const status = "STATUS=Restoring the network from the log";
    this.#report(status, extension(START_EXTENSION_MS + logBytes / MIN_RESTORED_BYTES_PER_MS));
    const signal = AbortSignal.any([this.#started.signal, this.#stopped.signal]);
    void this.#repeat(START_REPORT_MS, signal, () => this.#report(extension(START_EXTENSION_MS)));
  }

  /** Reports that requests are served, and again and again that the event loop runs, with the status. */
  ready(status: () => string): void {
    this.#started.abort();
    const report = () => this.#report("READY=1", "WATCHDOG=1", `STATUS=${status().replaceAll("\n", " ")}`);
    report();
    const intervalMs = Math.min(this.#watchdogMs ?? STATUS_INTERVAL_MS, STATUS_INTERVAL_MS);
    void this.#repeat(intervalMs, this.#stopped.signal, report);
  }

  stopping(): void {
    this.#stopped.abort();
    this.#report("STOPPING=1", "STATUS=Stopping");
  }

  async #repeat(intervalMs: number, signal: AbortSignal, report: () => void): Promise<void> {
    while (this.#send && !signal.aborted) {
      await this.#clock.sleep(intervalMs, signal);
      if (!signal.aborted) report();
    }
  }

  #report(...lines: readonly string[]): void {
    this.#send?.(`${lines.join("\n")}\n`);
  }
}

const extension = (ms: number) => `EXTEND_TIMEOUT_USEC=${Math.ceil(ms) * 1000}`;

/** A third of the time after which systemd ends a process that is silent; undefined where it does not. */
function watchdogIntervalOf({ WATCHDOG_USEC, WATCHDOG_PID }: Environment): number | undefined {
  const timeoutMs = Number(WATCHDOG_USEC) / 1000;
  const isMeant = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid;
  return isMeant && timeoutMs > 0 ? timeoutMs / 3 : undefined;
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0x80000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/** An address that begins with `@` is abstract: a zero byte stands for the `@`, and none follows. */
async function openDatagramSocket(address: string): Promise<Send> {
  // Only here, because loading it costs time and memory, and most processes have no such socket.
  const { dlopen, ptr } = await import("bun:ffi");
  const { socket, sendto } = dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
  }).symbols;
  const path = address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`;
  const socketAddress = Buffer.concat([Buffer.from(Uint16Array.of(AF_UNIX).buffer), Buffer.from(path)]);
  const descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return (message) => {
    const bytes = Buffer.from(message);
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    sendto(descriptor, ptr(bytes), bytes.length, flags, ptr(socketAddress), socketAddress.length);
  };
}
