/** Networks of any size for benchmarks: devices of about 350 bytes, hosts of about 350, all ids and addresses distinct. */
import type { DeviceClaim, HostClaim } from "../../src/model/claim.ts";

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, "0");
const deviceId = (i: number): string => `of:${hex(i + 1, 16)}`;

export const deviceClaim = (i: number, turn = 0): DeviceClaim => ({
  id: deviceId(i),
  type: "SWITCH",
  available: true,
  role: "MASTER",
  mfr: "Example Networks",
  hw: "EX-48",
  sw: `4.${turn}`,
  annotations: {
    managementAddress: `10.255.${(i >> 8) & 255}.${i & 255}`,
    name: `switch-${i}`,
    protocol: "OF_13",
  },
});

export function* deviceClaims(count: number): Generator<DeviceClaim> {
  for (let i = 0; i < count; i++) yield deviceClaim(i);
}

/** The bytes as texts: a host is made as cheaply as possible, because the load that is measured includes it. */
const BYTES = Array.from({ length: 256 }, (_, byte) => hex(byte, 2).toUpperCase());
const byteText = (byte: number): string => BYTES[byte & 255] ?? "";
const macOf = (n: number): string =>
  `00:00:${byteText(n >> 24)}:${byteText(n >> 16)}:${byteText(n >> 8)}:${byteText(n)}`;

/** Host `i`; each `turn` puts it on another port. */
export const hostClaim = (i: number, devices: number, turn = 0): HostClaim => ({
  mac: macOf(i + 1),
  vlan: "None",
  ipAddresses: [hostAddress(i)],
  locations: [{ elementId: deviceId(i % devices), port: String(1 + (turn % 48)) }],
});

export const hostAddress = (i: number): string => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

export function* hostClaims(count: number, devices: number): Generator<HostClaim> {
  for (let i = 0; i < count; i++) yield hostClaim(i, devices);
}
