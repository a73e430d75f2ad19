import { expect, test } from "bun:test";
import snmp from "net-snmp";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { engineOf, setEngine, type UsmEngine } from "./usm-engine.ts";

const openSession = () =>
  snmp.createV3Session("127.0.0.1", { name: "ann", level: snmp.SecurityLevel.noAuthNoPriv }, {});

test("a session that has learned nothing has no engine; one that was given an engine returns it", () => {
  const clock = new ManualClock();
  const session = openSession();
  expect(engineOf(session, clock)).toBeUndefined();
  const engine: UsmEngine = {
    id: "800000000102",
    boots: 3,
    time: 77,
    receivedAt: clock.now() - 86_400_000,
  };
  setEngine(session, engine, clock);
  const { receivedAt, ...rest } = engineOf(session, clock) ?? {};
  expect(rest).toEqual({ id: "800000000102", boots: 3, time: 77 });
  expect(Math.abs((receivedAt ?? 0) - engine.receivedAt)).toBeLessThan(1000);
  session.close();
});

test("when the clock was set back, no time has passed", () => {
  const clock = new ManualClock();
  const session = openSession();
  setEngine(session, { id: "80", boots: 3, time: 77, receivedAt: clock.now() + 86_400_000 }, clock);
  expect(engineOf(session, clock)?.receivedAt).toBeLessThanOrEqual(clock.now());
  session.close();
});
