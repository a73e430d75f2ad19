import { describe, expect, test } from "bun:test";
import { catchServiceSignals, catchStopSignals } from "./signals.ts";

/** The handlers of this process are called without a real signal. */
const deliver = (name: NodeJS.Signals) => process.emit(name, name);

describe("stop", () => {
  test("the first signal stops, one within 500 ms is the same keystroke, a later one ends at once", () => {
    let now = 1000;
    let exits = 0;
    using stop = catchStopSignals(() => exits++, { now: () => now });
    expect(stop.signal.aborted).toBe(false);
    deliver("SIGINT");
    expect(stop.signal.aborted).toBe(true);
    now += 500;
    deliver("SIGTERM");
    expect(exits).toBe(0);
    now += 1;
    deliver("SIGTERM");
    expect(exits).toBe(1);
  });

  test("SIGHUP stops when standard input is a terminal", () => {
    using signals = catchServiceSignals(() => {}, true);
    deliver("SIGHUP");
    expect(signals.signal.aborted).toBe(true);
  });
});

test("SIGHUP requests a reload; one that came before the listener is not lost", () => {
  using signals = catchServiceSignals(() => {}, false);
  deliver("SIGHUP");
  let reloads = 0;
  const remove = signals.onReload(() => reloads++);
  expect(reloads).toBe(1);
  deliver("SIGHUP");
  expect(reloads).toBe(2);
  remove();
  deliver("SIGHUP");
  expect({ reloads, stopped: signals.signal.aborted }).toEqual({ reloads: 2, stopped: false });
});
