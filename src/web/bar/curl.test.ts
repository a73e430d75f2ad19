import { expect, test } from "bun:test";
import { parseState } from "../data/view-state.ts";
import { curlLine, downloadRequest, requestsFor } from "./curl.ts";

const requests = (query: string) => requestsFor(parseState(query));

test.each([
  ["", ["/controller/v1/topology?format=netjson"]],
  ["?type=SWITCH,ROUTER&source=a", ["/controller/v1/devices?type=SWITCH,ROUTER&source=a"]],
  ["?source=a&at=7", ["/controller/v1/devices?source=a&at=7", "/controller/v1/links?source=a&at=7"]],
  [
    "?type=SWITCH&state=down,inactive&around=x&hops=2",
    [
      "/controller/v1/devices?available=false&type=SWITCH&around=x&hops=2",
      "/controller/v1/links?state=INACTIVE&around=x&hops=2",
    ],
  ],
  // The page computes what is cut off, so that no request returns it.
  ["?state=cut-off", []],
  ["?state=cut-off,down", []],
  ["?layer=conflicts", ["/controller/v1/devices?conflict=true", "/controller/v1/links?conflict=true"]],
  ["?path=devices:of:1&path=hosts:a/None&at=9", ["/controller/v1/paths/of%3A1/a%2FNone?at=9"]],
  ["?compare=3&at=9", ["/controller/v1/topology?diff=3..9"]],
  [
    "?view=links&filter=state=INACTIVE&sort=-src&at=9",
    ["/controller/v1/links?state=INACTIVE&sort=-src&at=9"],
  ],
])("the requests of %s", (query, expected) => {
  expect(requests(query)).toEqual(expected);
});

test("a command line has all requests, each quoted for a shell", () => {
  expect(curlLine("http://x", "/a?b='", "/c")).toBe(`curl --user USERNAME 'http://x/a?b='\\''' 'http://x/c'`);
});

test("a download is one request", () => {
  expect(downloadRequest(parseState("?around=x"), "svg")).toBe(
    "/controller/v1/topology?format=svg&around=x&hops=1",
  );
  expect(downloadRequest(parseState("?view=hosts&filter=vlan=10"), "csv")).toBe(
    "/controller/v1/hosts?format=csv&vlan=10",
  );
});
