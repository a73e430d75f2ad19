/** `Type=notify`: what systemd receives from a service that starts, serves and stops. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { systemClock } from "../../src/lib/clock.ts";
import { openServiceManager } from "../../src/lib/service-manager.ts";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** Prints the datagrams that arrive at one of two addresses. */
const RECEIVER = `
import select, socket, sys
receivers = []
for address in sys.argv[1:]:
    receivers.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    receivers[-1].bind("\\0" + address[1:] if address[0] == "@" else address)
print("bound", flush=True)
while True:
    for ready in select.select(receivers, [], [])[0]: print(ready.recv(4096).decode(), flush=True)
`;

test.skipIf(!needs("python3"))("systemd receives the start, readiness, status and stop", async () => {
  const path = join(temporaryFolder(), "notify");
  const abstract = `@gazetteer-test-${process.pid}`;
  await using receiver = Bun.spawn(["/usr/bin/python3", "-c", RECEIVER, path, abstract], { stdout: "pipe" });
  let received = "";
  void (async () => {
    for await (const chunk of receiver.stdout) received += Buffer.from(chunk).toString();
  })();
  await until(() => received === "bound\n", { what: "the receiver" });
  await using service = await startService({
    args: ["--data", ":memory:", "--demo=devices=4,hosts=6,churn=0"],
    // A fifth of a second, so that the watchdog is seen without waiting.
    env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: "200000" },
  });
  const pings = () => received.split("READY=1\nWATCHDOG=1\nSTATUS=Serving 4 devices, ").length - 1;
  await until(() => pings() >= 3, { what: "the watchdog" });
  expect(await service.stop()).toBe(0);
  await until(() => received.includes("STOPPING=1\nSTATUS=Stopping\n"), { what: "the stop" });
  expect(received).toStartWith(
    "bound\nSTATUS=Restoring the network from the log\nEXTEND_TIMEOUT_USEC=60000000\n\nREADY=1\n",
  );
  expect(received).toMatch(/ links, 6 hosts from 1 sources\n/);

  const manager = await openServiceManager({ NOTIFY_SOCKET: abstract }, systemClock);
  manager.ready(() => "to an abstract address");
  manager.stopping();
  await until(() => received.includes("STATUS=to an abstract address\n"), { what: "the abstract address" });
});
