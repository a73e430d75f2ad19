/** The values by which devices of two sources are recognised. */
import { expect, test } from "bun:test";
import type { DeviceClaim } from "../../model/claim.ts";
import { identityValues } from "./identity-values.ts";

const valuesOf = (claim: Omit<DeviceClaim, "id">) =>
  identityValues({ ...claim }).map(({ rule, value }) => `${rule} ${value}`);

const SAME: Omit<DeviceClaim, "id">[][] = [
  [{ chassisId: "00:1b:21:c0:ff:ee" }, { chassisId: "001B.21C0.FFEE" }, { chassisId: "1b21c0ffee" }],
  [{ serial: "FOX1" }, { serial: " fox1 " }],
  [{ annotations: { managementAddress: "192.0.2.1" } }, { annotations: { managementAddress: "::ffff:192.0.2.1" } }],
  [{ annotations: { managementAddress: "2001:db8::1" } }, { annotations: { managementAddress: "2001:DB8:0::1" } }],
  [{ annotations: { name: "core-1" } }, { annotations: { sysName: "CORE-1" } }],
]; // biome-ignore format: a table

test.each(SAME.map((claims) => [claims]))("the spellings %j are one value", (claims) => {
  const values = claims.map(valuesOf);
  expect(values[0]).toHaveLength(1);
  for (const value of values) expect(value).toEqual(values[0] ?? []);
});

const NONE: Omit<DeviceClaim, "id">[] = [
  { chassisId: "0", serial: "unknown" },
  { chassisId: "00:00:00:00:00:00", serial: "None" },
  { chassisId: "ff:ff:ff:ff:ff:ff", serial: "" },
  { annotations: { managementAddress: "127.0.0.1", name: "localhost" } },
  { annotations: { managementAddress: "fe80::1" } },
  { annotations: { managementAddress: "0.0.0.0" } },
];

test.each(NONE.map((claim) => [claim]))("%j has no value", (claim) => {
  expect(valuesOf(claim)).toEqual([]);
});
