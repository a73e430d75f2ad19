import { expect, test } from "bun:test";
import { parseServiceUrl, resolveServiceAddress, type StoredServers } from "./service-url.ts";

const NOTHING_STORED: StoredServers = { servers: {} };
const resolve = (
  flags: { url?: string; server?: string },
  env: Record<string, string> = {},
  stored: StoredServers = NOTHING_STORED,
) => resolveServiceAddress({ url: flags.url, server: flags.server }, env, async () => stored);

const cases: [
  url: string | undefined,
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
for (const [url, environment, href, credentials] of cases) {
  test(`--url ${url} with credentials ${environment}`, async () => {
    const env = environment === undefined ? {} : { GAZETTEER_CREDENTIALS: environment };
    const address = await resolve(url === undefined ? {} : { url }, env);
    expect(address.url.href).toBe(href);
    expect(address.credentials).toBe(credentials);
  });
}

const STORED: StoredServers = {
  current: "lab",
  servers: {
    lab: { url: "http://lab:8181", credentials: "lab:1" },
    prod: { url: "https://prod/net", credentials: "prod:2" },
    admin: { url: "https://prod/net", credentials: "admin:3" },
    open: { url: "http://open" },
    cert: { url: "https://cert", tls: { cert: "/c.pem", key: "/k.pem" } },
  },
};
const precedence: [
  flags: { url?: string; server?: string },
  env: Record<string, string>,
  href: string,
  credentials: string | undefined,
][] = [
  [{}, {}, "http://lab:8181/", "lab:1"],
  [{}, { GAZETTEER_URL: "http://env" }, "http://env/", undefined],
  [{}, { GAZETTEER_URL: "" }, "http://lab:8181/", "lab:1"],
  [{ server: "prod" }, { GAZETTEER_URL: "http://env" }, "https://prod/net", "prod:2"],
  [{ server: "admin" }, {}, "https://prod/net", "admin:3"],
  [{ server: "open" }, {}, "http://open/", undefined],
  [{ url: "http://flag", server: "prod" }, { GAZETTEER_URL: "http://env" }, "http://flag/", undefined],
  // What is stored for a server that is named belongs to it; the environment is for the others.
  [{ server: "prod" }, { GAZETTEER_CREDENTIALS: "a:b" }, "https://prod/net", "prod:2"],
  [{ server: "cert" }, { GAZETTEER_CREDENTIALS: "a:b" }, "https://cert/", undefined],
  [{ server: "open" }, { GAZETTEER_CREDENTIALS: "a:b" }, "http://open/", "a:b"],
  [{}, { GAZETTEER_CREDENTIALS: "a:b" }, "http://lab:8181/", "a:b"],
  // A stored password belongs to its scheme, host and port, whatever the path is.
  [{ url: "http://lab:8181/onos/v1" }, {}, "http://lab:8181/onos/v1", "lab:1"],
  [{ url: "http://lab:8182" }, {}, "http://lab:8182/", undefined],
  [{ url: "https://lab:8181" }, {}, "https://lab:8181/", undefined],
  [{ url: "http://lab.example:8181" }, {}, "http://lab.example:8181/", undefined],
  [{ url: "https://prod:443" }, {}, "https://prod/", "prod:2"],
];
for (const [flags, env, href, credentials] of precedence) {
  test(`${JSON.stringify(flags)} with ${JSON.stringify(env)} and stored servers`, async () => {
    const address = await resolve(flags, env, STORED);
    expect(address.url.href).toBe(href);
    expect(address.credentials).toBe(credentials);
  });
}

test("a stored file is read only where it decides something", async () => {
  const flags = { url: "http://host", server: undefined };
  const unreadable = () => Promise.reject(new Error("broken"));
  const address = await resolveServiceAddress(flags, { GAZETTEER_CREDENTIALS: "a:b" }, unreadable);
  expect(address.credentials).toBe("a:b");
});

test("an unknown server is refused with the nearest name, or with all of them", async () => {
  await expect(resolve({ server: "labb" }, {}, STORED)).rejects.toThrow("did you mean lab?");
  await expect(resolve({ server: "elsewhere" }, {}, STORED)).rejects.toThrow(
    "there are lab, prod, admin, open, cert",
  );
  await expect(resolve({ server: "constructor" }, {}, NOTHING_STORED)).rejects.toThrow("gazetteer login URL");
});

for (const url of ["ftp://host", "http://", "http://host/?a=b", "http://host/#a", "not a url"]) {
  test(`refused: ${url}`, () => expect(() => parseServiceUrl(url, "--url")).toThrow("--url"));
}
test("refused: credentials without a colon", async () => {
  await expect(resolve({}, { GAZETTEER_CREDENTIALS: "ann" })).rejects.toThrow(
    "GAZETTEER_CREDENTIALS must be <USERNAME>:<PASSWORD>",
  );
});
