import { expect, test } from "bun:test";
import { createClient } from "../client/client.ts";
import { NetworkNames } from "./network-names.ts";

const unreachable = () => Promise.reject(new TypeError("connection refused"));
const client = createClient({ url: "http://127.0.0.1:1", fetch: unreachable });
const points = [{ device: "of:1", port: "2" }];

test("a line has ids when the service is lost while names are loaded, unless the command is stopped", async () => {
  const names = new NetworkNames(client, {});
  await names.loadForLine(points, new AbortController().signal);
  expect(names.textOf({ device: "of:1", port: "2" })).toBe("of:1/2");
  await expect(names.load(points)).rejects.toThrow();
  await expect(names.loadForLine(points, AbortSignal.abort())).rejects.toThrow("aborted");
});
