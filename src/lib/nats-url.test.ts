import { expect, test } from "bun:test";
import { parseNatsUrl } from "./nats-url.ts";

const cases: [text: string, parsed: ReturnType<typeof parseNatsUrl>][] = [
  ["nats://h", { address: "nats://h", hostname: "h", isTls: false, login: undefined }],
  ["tls://h:80/", { address: "tls://h:80", hostname: "h", isTls: true, login: undefined }],
  ["nats://a:1@h:2", { address: "nats://h:2", hostname: "h", isTls: false, login: { user: "a", pass: "1" } }],
  [
    "nats://t%40@[::1]:2",
    { address: "nats://[::1]:2", hostname: "[::1]", isTls: false, login: { token: "t@" } },
  ],
];
for (const [text, parsed] of cases) test(text, () => expect(parseNatsUrl(text)).toEqual(parsed));

for (const text of ["nats://", "h:4222", "nats://a:b/c@h", "nats://h/x", "nats://a:%ff@h"]) {
  test(`${text} is no address`, () => expect(() => parseNatsUrl(text)).toThrow(/^not an address/));
}
