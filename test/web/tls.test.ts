/** The page over HTTPS in a browser: it loads, stays connected, and gets changes. */
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createCertificates } from "../support/certificates.ts";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { startService } from "../support/service.ts";
import { openTab } from "./browser.ts";

const folder = temporaryFolder();
beforeAll(() => createCertificates(folder, ["server"]));

test.skipIf(!needs("chromium"))("the page is served over HTTPS", async () => {
  await using service = await startService({
    args: [
      ...["--data", ":memory:", "--demo", "devices=20,hosts=50,churn=0"],
      ...["--tls-cert", join(folder, "server.pem"), "--tls-key", join(folder, "server.key")],
    ],
  });
  // The browser does not know the authority of the test.
  const tab = await openTab(service, { ignoreHTTPSErrors: true });
  const details = tab.page.waitForResponse((response) => response.url().includes("/controller/v1/"));
  await tab.goto("/");
  expect(await (await details).securityDetails()).toMatchObject({ protocol: "TLS 1.3", issuer: "ca" });
  await tab.page.locator(".map-summary", { hasText: "20 devices" }).waitFor();
  expect({ errors: tab.errors, externalRequests: tab.externalRequests }).toEqual({
    errors: [],
    externalRequests: [],
  });
  await tab.close();
});
