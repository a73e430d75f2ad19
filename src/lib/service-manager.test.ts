/** The messages to systemd, by a manual clock. test/service/service-manager.test.ts receives them as datagrams. */
import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { systemClock } from "./clock.ts";
import { openServiceManager, ServiceManager } from "./service-manager.ts";

const MINUTE_MS = 60_000;

function createManager(watchdogMs?: number) {
  const clock = new ManualClock();
  const sent: string[] = [];
  const manager = new ServiceManager((message) => sent.push(message), watchdogMs, clock);
  return { clock, manager, take: () => sent.splice(0) };
}

test("a start asks for the time that the log needs, and for more while it goes on", async () => {
  const { clock, manager, take } = createManager();
  manager.starting(400_000_000);
  expect(take()).toEqual(["STATUS=Restoring the network from the log\nEXTEND_TIMEOUT_USEC=260000000\n"]);
  await clock.advance(20_000);
  expect(take()).toEqual(["EXTEND_TIMEOUT_USEC=60000000\n", "EXTEND_TIMEOUT_USEC=60000000\n"]);
  manager.ready(() => "serving");
  take();
  await clock.advance(20_000);
  expect(take()).toEqual([]);
});

test("a service that is ready says so, with its status, three times in the time of the watchdog", async () => {
  const { clock, manager, take } = createManager(20_000);
  let status = "serving\nREADY=0";
  manager.ready(() => status);
  expect(take()).toEqual(["READY=1\nWATCHDOG=1\nSTATUS=serving READY=0\n"]);
  status = "still serving";
  await clock.advance(MINUTE_MS);
  expect(take()).toEqual(Array.from({ length: 3 }, () => "READY=1\nWATCHDOG=1\nSTATUS=still serving\n"));
  manager.stopping();
  expect(take()).toEqual(["STOPPING=1\nSTATUS=Stopping\n"]);
  await clock.advance(MINUTE_MS);
  expect(take()).toEqual([]);
});

test("without a socket, and when nobody receives, nothing happens", async () => {
  for (const env of [{}, { NOTIFY_SOCKET: "" }, { NOTIFY_SOCKET: "/nonexistent/notify" }])
    (await openServiceManager(env, systemClock)).stopping();
});
