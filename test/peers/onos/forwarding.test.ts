/** Forwarding to ONOS's own REST application: a program of ONOS gets the same here as there. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ONOS_CREDENTIALS } from "../../onos/network.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { printSkip } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { missingForOnos } from "./onos-install.ts";
import { type OnosPeer, startOnos } from "./onos-peer.ts";

const START_TIMEOUT_MS = 360_000;
const missing = missingForOnos();
if (missing) printSkip(`nothing is forwarded to ONOS itself: ${missing}`);

describe.skipIf(missing !== undefined)("ONOS 2.7", () => {
  let onos: OnosPeer;
  let service: Service;
  beforeAll(async () => {
    onos = await startOnos();
    const folder = temporaryFolder();
    const credentialsFile = join(folder, "onos.credentials");
    writeFileSync(credentialsFile, `${ONOS_CREDENTIALS}\n`, { mode: 0o600 });
    const forward = ["statistics", "flows", "drivers", "diagnostics"];
    const source = { type: "controller", name: "onos", url: onos.url, credentialsFile, forward };
    const config = join(folder, "g.json");
    writeFileSync(config, JSON.stringify({ aliases: ["onos"], sources: [source] }));
    service = await startService({ args: ["--config", config, "--data", ":memory:"] });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await onos?.[Symbol.asyncDispose]();
  });

  const read = async (responded: Promise<Response>) => {
    const response = await responded;
    const [type, length] = [response.headers.get("content-type"), response.headers.get("content-length")];
    return { status: response.status, type, length, body: await response.text() };
  };
  // This ONOS has services for what Gazetteer has too, and statistics; for the others it has an error with a body.
  const cases: [path: string, status: number][] = [
    ["statistics/ports", 200],
    ["statistics/ports/of:00000000000000a1", 200],
    ["statistics/ports/of%3A00000000000000a1", 200],
    ["statistics/delta/ports", 200],
    ["flows", 500],
    ["drivers", 404],
    ["diagnostics", 500],
  ];
  for (const [path, status] of cases) {
    for (const method of ["GET", "HEAD"]) {
      test(`${method} ${path} is the same here`, async () => {
        const there = await read(onos.fetchPath(path, { method, headers: {} }));
        expect(there.status).toBe(status);
        expect(await read(service.fetch(`/onos/v1/${path}`, { method }))).toEqual(there);
      });
    }
  }

  test("credentials that ONOS does not accept are 502 here", async () => {
    const config = join(temporaryFolder(), "g.json");
    const source = { type: "controller", url: onos.url, credentials: "onos:wrong", forward: ["statistics"] };
    writeFileSync(config, JSON.stringify({ aliases: ["onos"], sources: [source] }));
    await using other = await startService({ args: ["--config", config, "--data", ":memory:"] });
    const response = await other.fetch("/onos/v1/statistics/ports");
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([502, null]);
    expect(await response.json()).toMatchObject({ code: 502 });
  });
});
