/** A stream read by another client, as the documentation shows it. */
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { until } from "../support/until.ts";
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
