import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { formatPath } from "../../lib/schema-faults.ts";
import { createSource } from "../registry.ts";

const context = { clock: new ManualClock(), log: silentLogger };
const v3 = { user: "ann", authProtocol: "sha256", authPassword: "password" };

function faults(options: object): string[] {
  const created = createSource({ type: "snmp", targets: ["192.0.2.1"], ...options }, context);
  return created.ok ? [] : created.faults.map(({ path, message }) => `${formatPath(path)} ${message}`);
}

describe("options that are accepted", () => {
  const cases: object[] = [
    { community: "public" },
    { communityFile: "c" },
    { v3 },
    { v3: { ...v3, privProtocol: "aes", privPassword: "password" } },
    {
      v3: {
        user: "a",
        authProtocol: "sha",
        authPasswordFile: "a",
        privProtocol: "aes256r",
        privPasswordFile: "p",
      },
    },
    { community: "public", timeoutSeconds: 0.5, retries: 0, port: 1161, scanSeconds: 60, concurrency: 1 },
  ];
  for (const options of cases) test(JSON.stringify(options), () => expect(faults(options)).toEqual([]));
});

describe("options that are refused", () => {
  const cases: [object, RegExp][] = [
    [{}, /^community is required, unless v3 is given/],
    [{ community: "public", v3 }, /^v3 cannot be given with community/],
    [{ community: "a", communityFile: "b" }, /^communityFile only one of community and communityFile/],
    [{ targets: [], community: "a" }, /^targets must /],
    [{ targets: ["10.0.0.0/8"], community: "a" }, /^targets\[0\] must have a prefix of at least 16 bits/],
    [{ v3: { user: "ann", authProtocol: "sha" } }, /^v3.authPassword is required/],
    [{ v3: { ...v3, authProtocol: "sha1" } }, /^v3.authProtocol must be one of md5, sha, sha224/],
    [{ v3: { ...v3, privProtocol: "aes" } }, /^v3.privPassword is required with privProtocol/],
    [{ v3: { ...v3, privPassword: "password" } }, /^v3.privProtocol is required with privPassword/],
    [{ v3: { ...v3, authPassword: "short" } }, /^v3.authPassword must have at least 8 characters/],
    [{ community: "a", intervalSeconds: 0 }, /^intervalSeconds must be a whole number from 1 to 86400/],
    [{ community: "a", timeoutSeconds: 0 }, /^timeoutSeconds must be a number from 0.1 to 60/],
  ];
  for (const [options, message] of cases) {
    test(JSON.stringify(options), () => expect(faults(options)).toEqual([expect.stringMatching(message)]));
  }
});
