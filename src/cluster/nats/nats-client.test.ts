/** Credentials of NATS are those that the file has when a node connects again. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { natsCredentials } from "../../../test/support/nats-credentials.ts";
import { authenticatorOf, losesMessages } from "./nats-client.ts";

test("a credentials file is read again at each connection; one that is missing then is as before", () => {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-engine-"));
  const file = join(folder, "nats.creds");
  writeFileSync(file, natsCredentials("first"));
  const authenticate = authenticatorOf(file);
  expect(authenticate("nonce")).toMatchObject({ jwt: "first" });
  writeFileSync(file, natsCredentials("second"));
  expect(authenticate("nonce")).toMatchObject({ jwt: "second" });
  rmSync(folder, { recursive: true });
  expect(authenticate("nonce")).toMatchObject({ jwt: "second" });
});

test.each([
  ["2.9.10", true],
  ["v2.9.25", true],
  ["1.4.1", true],
  ["2.10.0", false],
  ["2.15.2", false],
  ["3.0.0-RC.1", false],
])("whether servers of version %s lose messages", (version, isLossy) => {
  expect(losesMessages(version)).toBe(isLossy);
});
