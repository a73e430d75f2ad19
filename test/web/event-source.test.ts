/** A stream read by the EventSource of a browser, as the documentation shows it. */
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { startService } from "../support/service.ts";
import { openTab } from "./browser.ts";

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
    }, "/controller/v1/topology?format=events");
    await close();
    const synced = seen.findIndex(({ event }) => event === "synced");
    expect(seen.slice(0, synced).every(({ event }) => event === "snapshot")).toBe(true);
    expect(seen.slice(synced + 1).every(({ event }) => event !== "snapshot" && event !== "synced")).toBe(
      true,
    );
    expect(seen[synced]?.id).toMatch(/^[\w-]+\.[1-9]\d*$/);
    await service.stop();
  },
);
