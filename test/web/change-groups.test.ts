import { expect, test } from "bun:test";
import fc from "fast-check";
import { runToEnd, withoutPauses } from "../../src/lib/steps.ts";
import type { Port } from "../../src/model/entity.ts";
import { changesSince, diffStates } from "../../src/query/changes.ts";
import { filterStateOrEmpty } from "../../src/query/filtered-state.ts";
import { QueryBuilder } from "../../src/query/query.ts";
import { History } from "../../src/view/history.ts";
import {
  ChangeGroups,
  describeChange,
  type RecentChange,
  type ShownChange,
} from "../../src/web/data/change-groups.ts";
import { applyToSource, claimHistory } from "../support/claim-history.ts";
import { ClaimedNetwork } from "../support/claims.ts";
import { sampleCable, sampleHost, sampleNetwork } from "../support/page-network.ts";
import { assertProperty, PROPERTY_TIMEOUT_MS } from "../support/property.ts";
import { SOURCES } from "../support/reference-view.ts";
import { device } from "../support/sample-network.ts";

const EVERYTHING = new QueryBuilder([], 0, true);
const network = sampleNetwork();
const port = (element: string, n: string, more: Partial<Port>): Port => ({
  element,
  port: n,
  type: "copper",
  portSpeed: 1000,
  isEnabled: true,
  firstSeen: "2026-11-15T01:00:00.000Z",
  lastChanged: "2026-11-15T01:00:00.000Z",
  sources: ["demo"],
  revision: 7,
  ...more,
});
let revision = 0;
const at = (time: number) => ({ revision: ++revision, time });
const portDown = (element: string, n: number, time: number): RecentChange => ({
  ...at(time),
  event: "updated",
  resource: "ports",
  value: port(element, String(n), { isEnabled: false }),
  changed: ["isEnabled"],
});
const deviceChange = (id: string, available: boolean, time: number): RecentChange => ({
  ...at(time),
  event: "updated",
  resource: "devices",
  value: device(id, { available }),
  changed: ["available"],
});
const texts = (groups: ChangeGroups) =>
  groups
    .list(network)
    .map(({ title, count, changes }) =>
      count === 1 ? `${changes[0]?.title} ${changes[0]?.text}` : `${title} ${changes[0]?.many}`,
    );

test("many ports of a device that go down within a minute are one group", () => {
  const groups = new ChangeGroups(0);
  for (let n = 1; n <= 14; n++) groups.add(network, [portDown("c", n, n * 1000)]);
  groups.add(network, [portDown("b", 1, 15_000), portDown("c", 3, 16_000)]);
  expect(texts(groups)).toEqual(["14 ports of switch-c went down", "switch-b port 1 went down"]);
  groups.add(network, [portDown("c", 3, 200_000)]);
  expect(texts(groups)[0]).toBe("switch-c port 3 went down");
});

test("links are grouped by the device that they have in common, both directions as one", () => {
  const groups = new ChangeGroups(0);
  const down = (a: string, b: string): RecentChange[] =>
    sampleCable(a, b, { state: "INACTIVE" }).map((value) => ({
      ...at(1000),
      event: "updated",
      resource: "links",
      value,
      changed: ["state"],
    }));
  groups.add(network, [...down("a/1", "b/1"), ...down("b/2", "c/1"), ...down("b/3", "d/1")]);
  expect(texts(groups)).toEqual(["3 cables of switch-b went down"]);
});

test("a group is closed a minute after its first change and counts different devices", () => {
  const groups = new ChangeGroups(0);
  // Ten devices go down and come up in turn, one a second.
  for (let s = 0; s < 180; s++) {
    const isDown = Math.floor(s / 10) % 2 === 0;
    groups.add(network, [deviceChange(`s${s % 10}`, !isDown, s * 1000)]);
  }
  const listed = groups.list(network).map(({ title, changes }) => `${title} ${changes[0]?.many}`);
  expect(listed).toEqual([
    "10 devices came up",
    "10 devices went down",
    "10 devices came up",
    "10 devices went down",
    "10 devices came up",
    "10 devices went down",
  ]);
});

test("a group shows the last change of each entity", () => {
  const groups = new ChangeGroups(0);
  const addressed = (address: string, time: number): RecentChange => ({
    ...at(time),
    event: "updated",
    resource: "hosts",
    value: sampleHost("02:00:00:00:00:01", "a/9", { ipAddresses: [address] }),
    changed: ["ipAddresses"],
  });
  groups.add(network, [addressed("192.0.2.1", 1000), addressed("192.0.2.2", 2000)]);
  expect(texts(groups)).toEqual(["192.0.2.2 has address 192.0.2.2"]);
});

test("the oldest groups are evicted, faults and recoveries alike, and the list says from when on it is complete", () => {
  const groups = new ChangeGroups(0);
  // One device after the other goes down and comes up, each more than a minute after the change before.
  for (let n = 0; n < 300; n++) groups.add(network, [deviceChange(`s${n >> 1}`, n % 2 === 1, n * 61_000)]);
  const listed = groups.list(network);
  expect(listed).toHaveLength(200);
  expect(texts(groups).slice(0, 3)).toEqual(["s149 came up", "s149 went down", "s148 came up"]);
  expect(texts(groups).filter((text) => text.endsWith("came up"))).toHaveLength(100);
  expect(groups.since).toBe(99 * 61_000);
});

test(
  "the list of ten minutes has what differs and what came and went again, and nothing else",
  async () => {
    const step = fc.constantFrom(0, 1, 20, 70);
    const property = fc.asyncProperty(
      claimHistory,
      fc.array(step, { minLength: 25, maxLength: 25 }),
      async ({ steps }, waits) => {
        const net = new ClaimedNetwork(SOURCES);
        for (const [i, claims] of steps.entries()) {
          net.clock.advance((waits[i] ?? 0) * 1000);
          await applyToSource(net.source(claims.source), claims);
        }
        const history = new History(net.committer, 1_000_000);
        const sinceMs = net.view.time - 10 * 60_000;
        const since = net.log.revisionAt(sinceMs) ?? 0;
        const committed = withoutPauses(
          changesSince(history, undefined, EVERYTHING, since, net.view.revision),
        );
        const changes = [...committed].map(
          ({ change: { value, ...change }, revision, time }): RecentChange =>
            ({ ...change, value: JSON.parse(value), revision, time }) as RecentChange,
        );
        const groups = new ChangeGroups(sinceMs);
        groups.add(network, changes);
        expect(groups.since).toBe(sinceMs);
        const listed = groups.list(network);
        expect(listed.length).toBeLessThan(200);

        const lines = listed.flatMap((group) => group.changes);
        expect(new Set(lines.map(({ subject }) => subject))).toEqual(
          new Set(changes.map((change) => describeChange(network, change).subject)),
        );
        const [from, to] = [since, net.view.revision].map((revision) =>
          runToEnd(filterStateOrEmpty(runToEnd(history.stateAt(revision)), EVERYTHING)),
        );
        if (!from || !to) throw new Error("both states are kept");
        for (const { value, event, resource, changed } of withoutPauses(diffStates(from, to, undefined))) {
          const difference = { event, resource, changed, value: JSON.parse(value) } as ShownChange;
          const { subject } = describeChange(network, difference);
          const own = lines.filter((line) => line.subject === subject).sort((p, q) => q.time - p.time);
          expect(own.length).toBeGreaterThan(0);
          if (resource === "devices" && changed.includes("available")) {
            const last = own.find(({ text }) => text === "came up" || text === "went down");
            expect(last?.text).toBe(JSON.parse(value).available ? "came up" : "went down");
          }
        }
        for (const { count, changes: own, time } of listed) {
          expect(new Set(own.map(({ subject }) => subject)).size).toBe(count);
          expect(new Set(own.map(({ many }) => many)).size).toBe(1);
          expect(own.every((change) => time - change.time <= 60_000)).toBe(true);
        }
        await net.log.close();
      },
    );
    await assertProperty(property, 40);
  },
  PROPERTY_TIMEOUT_MS,
);
