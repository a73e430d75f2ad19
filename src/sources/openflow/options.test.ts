import { expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { OpenflowOptions, parseListenAddress, resolveSettings } from "./options.ts";

const check = Compile(OpenflowOptions);

test("listen addresses", () => {
  expect(parseListenAddress("6653")).toEqual({ host: "127.0.0.1", port: 6653 });
  expect(parseListenAddress("0.0.0.0:6633")).toEqual({ host: "0.0.0.0", port: 6633 });
  expect(parseListenAddress("[::1]:6653")).toEqual({ host: "::1", port: 6653 });
  for (const listen of ["6653", "localhost:0", "[::]:6653", "192.0.2.1:1"])
    expect(check.Check({ listen, forwarding: "bridge" })).toBe(true);
  for (const listen of ["", ":6653", "::1:6653", "host", "host:port", "host:123456", "a b:1"]) {
    expect(check.Check({ listen, forwarding: "bridge" })).toBe(false);
  }
});

test("unknown options and values are rejected", () => {
  expect(check.Check({ forwarding: "bridge", tls: { cert: "a", key: "b" } })).toBe(true);
  expect(check.Check({ forwarding: "bridge", probeInterval: 5 })).toBe(false);
  expect(check.Check({ forwarding: "learn" })).toBe(false);
  expect(check.Check({ forwarding: "bridge", tls: { cert: "a" } })).toBe(false);
});

test("a certificate is a common name or a whole fingerprint", () => {
  const allows = (certificate: string) =>
    check.Check({ forwarding: "bridge", allow: [{ id: "of:0000000000000001", certificate }] });
  const bytes = Array.from({ length: 32 }, () => "5A");
  for (const text of ["s1.example", "Switch 1", `sha256:${bytes.join(":")}`, `SHA256:${bytes.join("")}`])
    expect([text, allows(text)]).toEqual([text, true]);
  for (const text of ["", "sha256:", "sha256:5A:0C:…", `sha256:${bytes.slice(1).join(":")}`])
    expect([text, allows(text)]).toEqual([text, false]);
});

test("announcements default to copy with the bridge, and to listen beside another controller", () => {
  expect(resolveSettings({ forwarding: "bridge" }).announcements).toBe("copy");
  expect(resolveSettings({ forwarding: "none" }).announcements).toBe("listen");
  expect(resolveSettings({ forwarding: "none", announcements: "copy" }).announcements).toBe("copy");
});

test("one peer address may have a quarter of the switches and half of the hosts, and all of a small number", () => {
  const limits = (maxDevices: number, maxHosts: number) => {
    const settings = resolveSettings({ forwarding: "bridge", maxDevices, maxHosts });
    return [settings.maxDevicesPerAddress, settings.maxHostsPerAddress];
  };
  expect(limits(10_000, 200_000)).toEqual([2500, 100_000]);
  expect(limits(100_000, 1_000_000)).toEqual([25_000, 500_000]);
  expect(limits(5000, 150_000)).toEqual([2500, 100_000]);
  expect(limits(20, 500)).toEqual([20, 500]);
});
