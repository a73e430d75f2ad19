/** A service that lost its data has a new log: a watch must detect that, even if `since` is a revision of it too. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

test("a watch starts over with a snapshot when the service has a new log", async () => {
  const file = join(temporaryFolder(), "network.json");
  const args = ["--data", ":memory:", "--file", file];
  writeFileSync(file, JSON.stringify({ devices: [{ id: "of:a" }] }));
  const first = await startService({ args });
  const client = createClient({ url: first.url, credentials: first.credentials });
  // The service accepts connections while it still reads the file.
  const hasDevice = async () =>
    (await (await first.fetch("/controller/v1/devices")).json()).devices.length > 0;
  await until(hasDevice, { what: "the network of the file" });
  const events = client.watch("devices");
  const next = async () => {
    const { value } = await events.next();
    if (!value) throw new Error("the watch ended");
    return "value" in value ? `${value.type} ${value.value.id}` : value.type;
  };
  expect([await next(), await next()]).toEqual(["snapshot of:a", "synced"]);
  await first.kill();
  writeFileSync(file, JSON.stringify({ devices: [{ id: "of:b" }] }));
  await using _second = await startService({ args, port: Number(new URL(first.url).port) });
  // For the same reason the device may come after the snapshot.
  const restarted = [await next(), await next(), await next()];
  expect(restarted[0]).toBe("reset");
  expect(restarted.slice(1).toSorted()).toBeOneOf([
    ["snapshot of:b", "synced"],
    ["added of:b", "synced"],
  ]);
  await events.return();
});
