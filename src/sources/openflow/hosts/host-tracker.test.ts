import { expect, test } from "bun:test";
import { runToEnd } from "../../../lib/steps.ts";
import { ClaimBuffer } from "../claim-buffer.ts";
import { portRef } from "../codec/port.ts";
import { resolveSettings } from "../options.ts";
import { HostTracker } from "./host-tracker.ts";

const start = 1_000_000;

/** A tracker with one host that has two addresses, and the number of probes so far. */
function trackSilentHost() {
  const sent = { probes: 0 };
  const environment = {
    isEdge: () => true,
    sendFrame: () => {
      sent.probes++;
    },
    addressOf: () => "192.0.2.1",
    mayChange: () => true,
    count: () => {},
  };
  const settings = resolveSettings({ forwarding: "bridge", hostTimeoutMs: 60_000 });
  const hosts = new HostTracker(new ClaimBuffer(), environment, settings);
  for (const ip of ["10.0.0.1", "fe80::1"])
    hosts.announcementReceived(portRef("of:1", 1), {}, { mac: "02:00:00:00:00:01", ip }, start);
  return { hosts, sent };
}

test("a silent host gets three probes at each of its addresses, then it is removed", () => {
  const { hosts, sent } = trackSilentHost();
  for (let now = start; now < start + 60_000; now += 1000) runToEnd(hosts.sweep(now));
  expect(hosts.size).toBe(1);
  expect(sent.probes).toBe(2 * 3);
  runToEnd(hosts.sweep(start + 60_000));
  expect(hosts.size).toBe(0);
});

test("after a pause of the process beyond the timeout, a host gets its probes before it is removed", () => {
  const { hosts, sent } = trackSilentHost();
  const resumed = start + 600_000;
  for (let now = resumed; now < resumed + 30_000; now += 1000) runToEnd(hosts.sweep(now));
  expect(hosts.size).toBe(1);
  expect(sent.probes).toBe(2 * 3);
  runToEnd(hosts.sweep(resumed + 30_000));
  expect(hosts.size).toBe(0);
});
