/** Responses that nobody reads are refused over the budget. test/peers/hostile/memory.test.ts has what they hold in every case. */
import { expect, test } from "bun:test";
import { API } from "../api/harness.ts";
import { deviceId } from "../api/network.ts";
import { slowRequest } from "../http1/raw-request.ts";
import { until } from "../support/until.ts";
import { ANN, as, BOB, metric, withTwoUsers } from "./two-users.ts";

/** 1200 devices of 15 kB: a response is larger than what the kernel buffers for a client that does not read. */
const DEVICES = Array.from({ length: 1200 }, (_, i) => ({
  id: deviceId(i),
  mfr: String(i).padStart(15_000, "x"),
}));

/** Each is another query, which has a response of its own. */
const slowQuery = (n: number) => `${API}/devices?sort=-id&annotations.none${n}=`;

test("unread responses count for the process: another user with a response outstanding is refused, one without is not", async () => {
  await withTwoUsers({ limits: { responseBytes: 250_000 } }, async (h) => {
    await h.replace({ devices: DEVICES });
    const ofAnn = Array.from({ length: 6 }, (_, n) => slowRequest(h.port, slowQuery(n), ANN));
    expect(await Promise.race(ofAnn.map(({ started }) => started))).toStartWith("HTTP/1.1 200 ");
    const ofBob = slowRequest(h.port, slowQuery(0), BOB);
    await ofBob.started;
    const refused = await h.fetch(slowQuery(1), as(BOB));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([
      503,
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    expect(await refused.json()).toMatchObject({ type: "/docs/errors#over-budget" });
    expect(JSON.parse((await ofBob.finish()).toString()).devices).toHaveLength(DEVICES.length);
    await until(async () => (await h.fetch("devices?available=true", as(BOB))).status === 200, {
      what: "the response of bob to be over",
    });
    for (const request of ofAnn) request.abort();
    await until(async () => (await metric(h, 'gazetteer_user_bytes_held{user="ann"}')) === 0, {
      what: "the bytes of ann to be released",
    });
  });
});
