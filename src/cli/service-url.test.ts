import { expect, test } from "bun:test";
import { parseServiceAddress } from "./service-url.ts";

const cases: [
  urlFlag: string | undefined,
  environment: string | undefined,
  href: string,
  credentials: string | undefined,
][] = [
  [undefined, undefined, "http://127.0.0.1:8181/", undefined],
  [undefined, "a:b", "http://127.0.0.1:8181/", "a:b"],
  [undefined, "", "http://127.0.0.1:8181/", undefined],
  ["http://host:1", "a:b:c", "http://host:1/", "a:b:c"],
  ["host:1", undefined, "http://host:1/", undefined],
  ["https://proxy/net/controller/v1", undefined, "https://proxy/net/controller/v1", undefined],
  ["http://u:p%40ss@host", "a:b", "http://u:p%40ss@host/", "u:p@ss"],
  ["http://u:100%@host", "a:b", "http://u:100%@host/", "u:100%"],
  ["http://[::1]:8181", undefined, "http://[::1]:8181/", undefined],
];
for (const [urlFlag, environment, href, credentials] of cases) {
  test(`--url ${urlFlag} with credentials ${environment}`, () => {
    const address = parseServiceAddress(urlFlag, environment);
    expect(address.url.href).toBe(href);
    expect(address.credentials).toBe(credentials);
  });
}

for (const urlFlag of ["ftp://host", "http://", "http://host/?a=b", "http://host/#a", "not a url"]) {
  test(`refused: ${urlFlag}`, () => expect(() => parseServiceAddress(urlFlag, undefined)).toThrow("--url"));
}
test("refused: credentials without a colon", () => {
  expect(() => parseServiceAddress(undefined, "ann")).toThrow(
    "GAZETTEER_CREDENTIALS must be <USERNAME>:<PASSWORD>",
  );
});
