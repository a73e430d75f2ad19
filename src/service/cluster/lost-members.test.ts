import { expect, test } from "bun:test";
import { LostMembers } from "./lost-members.ts";

test("lost nodes and servers are listed with the time since when, until they return", () => {
  const lost = new LostMembers();
  lost.observeNodes([
    { nodeName: "east", lostSince: undefined },
    { nodeName: "west", lostSince: 500 },
  ]);
  const server = { name: "n2", isOffline: true, silentMs: 300 };
  lost.observeServers([server, { name: "n3", isOffline: false, silentMs: 1 }], 1000);
  const node = { kind: "node", name: "west", since: 500 } as const;
  expect(lost.all).toEqual([node, { kind: "server", name: "n2", since: 700 }]);
  // Another leader has not heard of the server.
  lost.observeServers([{ ...server, silentMs: 0 }], 9000);
  expect(lost.servers).toEqual([{ name: "n2", since: 700 }]);
  lost.observeServers([{ ...server, isOffline: false }], 9500);
  expect(lost.all).toEqual([node]);
  lost.observeNodes([{ nodeName: "west", lostSince: undefined }]);
  expect(lost.all).toEqual([]);
});
