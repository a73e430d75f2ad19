import { expect, test } from "bun:test";
import { parseAddress } from "./address.ts";

test.each([
  ["http://h:8181", "http://h:8181/controller/v1", "http://h:8181/"],
  ["http://h:8181/", "http://h:8181/controller/v1", "http://h:8181/"],
  ["https://h/net//", "https://h/net/controller/v1", "https://h/net"],
  ["https://h/net/controller/v1/", "https://h/net/controller/v1", "https://h/net"],
  ["http://h/onos/v1", "http://h/onos/v1", "http://h/"],
  ["http://h/v1", "http://h/v1/controller/v1", "http://h/v1"],
])("%s", (url, apiUrl, serviceUrl) => {
  const address = parseAddress(url, undefined);
  expect(address.apiUrl.href).toBe(apiUrl);
  expect(address.serviceUrl.href).toBe(serviceUrl);
  expect(address.authorization).toBeUndefined();
});

const decodedAuthorization = (url: string, credentials?: Parameters<typeof parseAddress>[1]) =>
  Buffer.from(parseAddress(url, credentials).authorization?.slice("Basic ".length) ?? "", "base64").toString(
    "utf8",
  );

test("credentials come as text, as two fields or in the URL; the URL's count last", () => {
  expect(decodedAuthorization("http://h", "reader:a:b")).toBe("reader:a:b");
  expect(decodedAuthorization("http://h", { user: "lesér", password: "пароль" })).toBe("lesér:пароль");
  expect(decodedAuthorization("http://us%40er:p%3Aw%25@h")).toBe("us@er:p:w%");
  expect(decodedAuthorization("http://a:b@h", "c:d")).toBe("c:d");
  expect(parseAddress("http://a:b@h", undefined).apiUrl.href).toBe("http://h/controller/v1");
});

test("a token is sent as Bearer", () => {
  const token = `gzt.ci.${"A".repeat(43)}`;
  expect(parseAddress("http://h", token).authorization).toBe(`Bearer ${token}`);
});

test("an invalid address or invalid credentials throw", () => {
  expect(() => parseAddress("ftp://h", undefined)).toThrow("not http or https");
  expect(() => parseAddress("nonsense", undefined)).toThrow();
  expect(() => parseAddress("http://h", "secret")).toThrow("<USERNAME>:<PASSWORD>");
  expect(() => parseAddress("http://h", { user: "a:b", password: "c" })).toThrow("colon");
});
