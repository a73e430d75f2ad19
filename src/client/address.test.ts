import { expect, test } from "bun:test";
import { addressOf } from "./address.ts";

test.each([
  ["http://h:8181", "http://h:8181/controller/v1", "http://h:8181/"],
  ["http://h:8181/", "http://h:8181/controller/v1", "http://h:8181/"],
  ["https://h/net//", "https://h/net/controller/v1", "https://h/net"],
  ["https://h/net/controller/v1/", "https://h/net/controller/v1", "https://h/net"],
  ["http://h/onos/v1", "http://h/onos/v1", "http://h/"],
  ["http://h/v1", "http://h/v1/controller/v1", "http://h/v1"],
])("%s", (given, below, service) => {
  const address = addressOf(given, undefined);
  expect(address.interface.href).toBe(below);
  expect(address.service.href).toBe(service);
  expect(address.authorization).toBeUndefined();
});

const sent = (url: string, credentials?: Parameters<typeof addressOf>[1]) =>
  Buffer.from(addressOf(url, credentials).authorization?.slice("Basic ".length) ?? "", "base64").toString(
    "utf8",
  );

test("credentials: given, apart, in the address", () => {
  expect(sent("http://h", "reader:a:b")).toBe("reader:a:b");
  expect(sent("http://h", { user: "lesér", password: "пароль" })).toBe("lesér:пароль");
  expect(sent("http://us%40er:p%3Aw%25@h")).toBe("us@er:p:w%");
  expect(sent("http://a:b@h", "c:d")).toBe("c:d");
  expect(addressOf("http://a:b@h", undefined).interface.href).toBe("http://h/controller/v1");
});

test("what cannot be is refused at once", () => {
  expect(() => addressOf("ftp://h", undefined)).toThrow("not http or https");
  expect(() => addressOf("nonsense", undefined)).toThrow();
  expect(() => addressOf("http://h", "secret")).toThrow("<USERNAME>:<PASSWORD>");
  expect(() => addressOf("http://h", { user: "a:b", password: "c" })).toThrow("colon");
});
