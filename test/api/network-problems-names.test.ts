/** The texts of problems name what people named, with ids where nobody did. */
import { expect, test } from "bun:test";
import type { ClaimChange } from "../../src/model/claim.ts";
import { openHarness } from "./harness.ts";
import { A, B, C, device, host, link, noLink, read, TREE } from "./problem-network.ts";

const named = (id: string, name: string, available = true): ClaimChange => ({
  op: "set",
  kind: "devices",
  claim: { id, available, annotations: { name } },
});

test("devices, links and hosts are named by their names", async () => {
  await using harness = await openHarness();
  const web: ClaimChange = {
    op: "set",
    kind: "hosts",
    claim: {
      mac: "00:00:00:00:00:04",
      vlan: "None",
      locations: [{ elementId: C, port: "7" }],
      annotations: { name: "web" },
    },
  };
  await harness.apply([...TREE, web, named(A, "spine"), named(B, "leaf")]);
  await harness.apply([
    ...noLink(A, B),
    ...link(A, C, "INACTIVE"),
    { ...web, claim: { ...web.claim, locations: [{ elementId: A, port: "9" }] } },
    host(3, A, "8"),
  ]);
  await harness.apply([named(B, "leaf", false), device(C, false)]);
  const texts = (await read(harness)).problems.map(({ text }) => text);
  expect(texts.sort()).toEqual([
    `Cable spine/98 to leaf/97 is lost: no source reports it any more.`,
    `Cable spine/99 to ${C}/97 is down.`,
    `Device ${C} is down.`,
    `Device leaf (${B}) is down.`,
    `Host 00:00:00:00:00:03/None moved from leaf/1 to spine/8.`,
    `Host web (00:00:00:00:00:04/None) moved from ${C}/7 to spine/9.`,
  ]);
  // Both names and ids are found.
  const kinds = async (q: string): Promise<string[]> =>
    (await read(harness, `?q=${q}`)).problems.map(({ kind }) => kind).sort();
  expect(await kinds("leaf")).toEqual(["device-unavailable", "host-moved", "link-lost"]);
  expect(await kinds(B)).toEqual(["device-unavailable", "link-lost"]);
});
