import { expect, test } from "bun:test";
import { parseHostMeta } from "./restconf-client.ts";

test.each([
  [
    `<XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'>\n <Link rel='restconf' href='/restconf'/>\n</XRD>`,
    "/restconf",
  ],
  [`<x:XRD><x:Link href="/a?b&amp;c" type="t" rel="restconf"></x:Link></x:XRD>`, "/a?b&c"],
  [`<XRD><Link rel="lrdd" href="/other"/><Link\n rel = "restconf"\n href = "/r" /></XRD>`, "/r"],
  [`<XRD><!-- <Link rel="restconf" href="/old"/> --></XRD>`, undefined],
  [`<XRD><Link rel="restconf"/></XRD>`, undefined],
  [`{"links":[{"rel":"restconf","href":"/rests"}]}`, "/rests"],
  [`{"links":[null, 5, {"rel":"restconf","href":7}, {"rel":"restconf","href":"/r"}]}`, "/r"],
  [`{"links":{}}`, undefined],
  ["{", undefined],
  ["", undefined],
])("%s", (text, href) => {
  expect(parseHostMeta(text)).toBe(href);
});
