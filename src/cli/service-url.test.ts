import { expect, test } from "bun:test";
import { serviceAddress } from "./service-url.ts";

const cases: [
  given: string | undefined,
  env: string | undefined,
  base: string,
  credentials: string | undefined,
][] = [
  [undefined, undefined, "http://127.0.0.1:8181/controller/v1", undefined],
  [undefined, "a:b", "http://127.0.0.1:8181/controller/v1", "a:b"],
  [undefined, "", "http://127.0.0.1:8181/controller/v1", undefined],
  ["http://host:1", "a:b", "http://host:1/controller/v1", "a:b"],
  ["http://host:1/", undefined, "http://host:1/controller/v1", undefined],
  ["host:1", undefined, "http://host:1/controller/v1", undefined],
  ["http://host:1/controller/v1", undefined, "http://host:1/controller/v1", undefined],
  ["http://host:1/controller/v1/", undefined, "http://host:1/controller/v1", undefined],
  ["http://host:1/onos/v1", undefined, "http://host:1/onos/v1", undefined],
  ["https://proxy/net", undefined, "https://proxy/net/controller/v1", undefined],
  ["http://u:p%40ss@host", "a:b", "http://host/controller/v1", "u:p@ss"],
  ["http://u:100%@host", "a:b", "http://host/controller/v1", "u:100%"],
  ["http://[::1]:8181", undefined, "http://[::1]:8181/controller/v1", undefined],
];
for (const [given, env, base, credentials] of cases) {
  test(`${given} with ${env}`, () => expect(serviceAddress(given, env)).toEqual({ base, credentials }));
}

for (const given of ["ftp://host", "http://", "http://host/?a=b", "http://host/#a", "not a url"]) {
  test(`refused: ${given}`, () => expect(() => serviceAddress(given, undefined)).toThrow("--url"));
}
