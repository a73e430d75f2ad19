/** Streams read by other clients: `curl -N` and the EventSource of a browser, as the documentation shows them. */
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { openTab } from "../web/browser.ts";
import { API, CREDENTIALS, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

test.skipIf(!needs("curl"))("curl -N prints events as they are committed", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const child = Bun.spawn([
    "curl",
    "-sN",
    "-u",
    CREDENTIALS,
    `${h.url}${API}/devices?format=events&available=false`,
  ]);
  let text = "";
  const readAll = (async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk);
  })();
  await until(() => text.includes("event: synced"), { what: "the snapshot" });
  await h.apply([{ op: "set", kind: "devices", claim: { id: deviceId(4), available: false } }]);
  await until(() => text.includes("event: added"), { what: "the change" });
  expect(text).toMatch(/id: [\w-]+\.2\nevent: added\ndata: \{"resource":"devices","revision":2,/);
  child.kill();
  await readAll;
});

test.skipIf(!needs("chromium"))(
  "EventSource in a browser receives the snapshot, then the changes",
  async () => {
    const args = ["--data", ":memory:", "--demo", "devices=20,hosts=20,churn=20"];
    const service = await startService({ args });
    const { page, close } = await openTab(service);
    await page.goto(`${service.url}/`);
    const seen = await page.evaluate(async (path) => {
      const events = new EventSource(path);
      const names = ["snapshot", "synced", "added", "updated", "removed"];
      const received: { event: string; id: string }[] = [];
      await new Promise<void>((resolve) => {
        for (const name of names)
          events.addEventListener(name, (message) => {
            received.push({ event: name, id: message.lastEventId });
            if (received.at(-1)?.event !== "snapshot" && received.length > 60) resolve();
          });
      });
      events.close();
      return received;
    }, `${API}/topology?format=events`);
    await close();
    const synced = seen.findIndex(({ event }) => event === "synced");
    expect(seen.slice(0, synced).every(({ event }) => event === "snapshot")).toBe(true);
    expect(seen.slice(synced + 1).every(({ event }) => event !== "snapshot" && event !== "synced")).toBe(
      true,
    );
    expect(seen[synced]?.id).toMatch(/^[\w-]+\.[1-9]\d*$/);
    await service.stop();
  },
  120_000,
);
