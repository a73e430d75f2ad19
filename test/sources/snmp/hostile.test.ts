/**
 * Agents that do not behave: each is cut and counted, its last report stands, and the agent beside it is polled on. A
 * time-out here is 0.4 s and an interval 1 s; nothing is asserted about time.
 */
import { describe, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type Behaviour, encodeReply, type Reply, SnmpAgent, tlv } from "../../support/udp-snmp-agent.ts";
import { until } from "../../support/until.ts";
import { RunningSource, switchObjects } from "./running-source.ts";

const IF_DESCR = "1.3.6.1.2.1.2.2.1.2";

/** Replies to requests of the table of interfaces, and the usual answer to all others. */
const inTable =
  (reply: Behaviour): Behaviour =>
  (request, answer) =>
    request.oids[0]?.startsWith(IF_DESCR) ? reply(request, answer) : answer(request);

const CUT: readonly { readonly name: string; readonly reason: string; readonly reply: Behaviour }[] = [
  {
    name: "endless",
    reason: "endless",
    reply: inTable(({ requestId, oids }) => {
      const last = Number(oids[0]?.slice(IF_DESCR.length + 1) || 0);
      return {
        requestId,
        objects: oids.map((oid) => [`${oid.split(".").slice(0, 10).join(".")}.${last + 1}`, "x"]),
      };
    }),
  },
  {
    name: "out of order",
    reason: "order",
    reply: inTable(({ requestId, oids }) => ({
      requestId,
      objects: [7, 5].flatMap((i) => oids.map((oid): [string, string] => [`${oid}.${i}`, "x"])),
    })),
  },
  {
    name: "the same object again and again",
    reason: "order",
    reply: inTable(({ requestId, oids }) => ({
      requestId,
      objects: oids.map((oid) => [`${oid.split(".").slice(0, 10).join(".")}.1`, "x"]),
    })),
  },
  {
    name: "garbage",
    reason: "malformed",
    reply: inTable(() => crypto.getRandomValues(new Uint8Array(200))),
  },
  {
    name: "truncated datagrams",
    reason: "malformed",
    reply: inTable((request, answer) => {
      const datagram = encodeReply(request.community, answer(request));
      return datagram.subarray(0, datagram.length - 5);
    }),
  },
  {
    name: "no values",
    reason: "malformed",
    reply: inTable(({ requestId }) => ({ requestId, objects: [] })),
  },
  {
    name: "values of no type",
    reason: "malformed",
    reply: inTable(({ requestId, oids }) => ({
      requestId,
      objects: oids.map((oid) => [`${oid}.1`, { tag: 0x5f, bytes: Buffer.from("x") }]),
    })),
  },
  {
    name: "a version that was not requested",
    reason: "security",
    reply: inTable(() => tlv(0x30, tlv(2, Buffer.from([3])), tlv(0x30), tlv(4), tlv(4))),
  },
  {
    name: "another community",
    reason: "security",
    reply: inTable((request, answer) => encodeReply("other", answer(request))),
  },
  {
    name: "replies stop",
    reason: "incomplete",
    reply: inTable(() => undefined),
  },
  {
    name: "an error status",
    reason: "error",
    reply: inTable(({ requestId }) => ({ requestId, errorStatus: 5, objects: [] })),
  },
  {
    name: "slow",
    reason: "slow",
    reply: async (request, answer) => {
      await Bun.sleep(250);
      return answer(request);
    },
  },
];

describe("an agent that is cut", () => {
  test("is counted, its last report stands, and the others are polled on", async () => {
    using stack = new DisposableStack();
    const good = stack.use(await SnmpAgent.start(switchObjects("good")));
    const agents: { readonly agent: SnmpAgent; readonly reply: Behaviour }[] = [];
    for (const { name, reply } of CUT) {
      agents.push({
        agent: stack.use(await SnmpAgent.start(switchObjects(name.replaceAll(" ", "-")))),
        reply,
      });
    }
    const targets = [good.target, ...agents.map(({ agent }) => agent.target)];
    await using source = new RunningSource(targets, { maxVarbinds: 500, maxAgentSeconds: 2 });
    await source.until(() => source.sink.ports.size === 3 * targets.length, "all switches");
    for (const { agent, reply } of agents) agent.behaviour = reply;
    const expected = Object.entries(Object.groupBy(CUT, ({ reason }) => reason));
    for (const [reason, cases] of expected) {
      await source.reach(`agents_failed_${reason}_total`, cases?.length ?? 0);
    }
    await source.until(() => source.metric("agents_failing") === CUT.length, "all of them to be cut");
    const polls = source.metric("polls_total");
    await source.reach("polls_total", polls + 2);
    for (const { agent } of agents) {
      expect(
        source.log.some((line) => line.includes(`cannot be read source=test agent=${agent.target}`)),
      ).toBe(true);
    }
    expect([...source.sink.devices.values()].every(({ available }) => available)).toBe(true);
    expect(source.sink.ports.size).toBe(3 * targets.length);
    expect(source.log.join("")).not.toContain("c0mmunity");
  });

  test("replies from another address are not used", async () => {
    using bad = await SnmpAgent.start(switchObjects("bad"));
    using good = await SnmpAgent.start(switchObjects("good"));
    const other = createSocket("udp4");
    other.bind(0, "127.0.0.2");
    await once(other, "listening");
    bad.replySocket = other;
    await using source = new RunningSource([bad.target, good.target]);
    await source.reach("agents_failed_address_total", 1);
    await source.reach("polls_total", 2);
    expect(source.metric("replies_other_address_total")).toBeGreaterThan(0);
    expect([...source.sink.devices.keys()]).toEqual(["snmp:good"]);
    other.close();
  });

  test("reports that repeat the request for ever: four datagrams a request", async () => {
    using bad = await SnmpAgent.start([]);
    bad.rawBehaviour = (datagram) => reportFor(datagram);
    const v3 = { user: "ann", authProtocol: "sha256", authPassword: "password" } as const;
    await using source = new RunningSource([bad.target], { v3, retries: 0 });
    await source.until(() => source.sink.staleReasons.length > 0, "the fault");
    expect(bad.datagrams).toBeLessThanOrEqual(4 * source.metric("requests_total"));
    await source.reach("agents_failed_security_total", 3);
    expect(bad.datagrams).toBeLessThanOrEqual(4 * 4);
  });

  test("a v3 response without authentication is not used", async () => {
    using bad = await SnmpAgent.start([]);
    let replies = 0;
    bad.rawBehaviour = (datagram) => (replies++ % 2 === 0 ? reportFor(datagram, 7) : responseFor(datagram));
    const v3 = { user: "ann", authProtocol: "sha256", authPassword: "password" } as const;
    await using source = new RunningSource([bad.target], { v3, retries: 0 });
    await source.reach("replies_insecure_total", 1);
    await source.reach("agents_failed_security_total", 1);
    expect(source.sink.devices.size).toBe(0);
    expect(source.sink.staleReasons[0]).toContain("replies have less security than the requests");
  });
});

describe("an agent with habits is read", () => {
  const HABITS: readonly { readonly name: string; readonly reply: Behaviour }[] = [
    {
      name: "large replies are too big",
      reply: (request, answer) =>
        request.maxRepetitions * request.oids.length > 3
          ? { requestId: request.requestId, errorStatus: 1, objects: [] }
          : answer(request),
    },
    {
      name: "large replies are lost",
      reply: (request, answer) =>
        request.maxRepetitions > 1 && request.oids[0]?.startsWith(IF_DESCR) ? undefined : answer(request),
    },
    {
      name: "fewer values than requested",
      reply: (request, answer) => {
        const reply = answer(request);
        return { ...reply, objects: reply.objects.slice(0, 1) };
      },
    },
    {
      name: "noSuchName where nothing follows, as SNMPv1 has it",
      reply: (request, answer) => {
        const reply: Reply = answer(request);
        const isEnd = reply.objects.some(
          ([, value]) => typeof value === "object" && "tag" in value && value.tag === 0x82,
        );
        return isEnd ? { requestId: request.requestId, errorStatus: 2, errorIndex: 1, objects: [] } : reply;
      },
    },
    {
      name: "a table that it refuses",
      reply: (request, answer) =>
        request.oids[0]?.startsWith("1.0.8802.1.1.2.1.4")
          ? { requestId: request.requestId, errorStatus: 5, objects: [] }
          : answer(request),
    },
    {
      name: "texts of 50,000 bytes",
      reply: (request, answer) => {
        const reply = answer(request);
        return {
          ...reply,
          objects: reply.objects.map(([oid, value]) => [
            oid,
            oid.includes(".1.1.6.") ? "x".repeat(50_000) : value,
          ]),
        };
      },
    },
  ];
  for (const { name, reply } of HABITS) {
    test(name, async () => {
      using agent = await SnmpAgent.start(switchObjects("habit", 12));
      agent.behaviour = reply;
      await using source = new RunningSource([agent.target], { retries: 6 });
      await source.until(() => source.sink.ports.size === 12, "its ports");
      expect(source.sink.devices.get("snmp:habit")?.available).toBe(true);
    });
  }
});

test("silent agents take neither slots nor time of the others", async () => {
  using good = await SnmpAgent.start(switchObjects("good"));
  const SILENT = 200;
  const silent = Array.from({ length: SILENT }, (_, i) => `127.1.${Math.floor(i / 100)}.${(i % 100) + 1}:9`);
  await using source = new RunningSource([...silent, good.target], { timeoutSeconds: 0.8, concurrency: 1 });
  await source.reach("polls_total", 4);
  const polls = source.metric("polls_total");
  await source.reach("polls_total", polls + 4);
  // A round of all silent agents takes the slow lane several intervals. The good one was polled in each interval.
  expect(source.metric("polls_total")).toBeGreaterThan(
    2 * (source.metric("polls_unanswered_total") / SILENT),
  );
});

test("a silent agent is unavailable after three polls, and its ports stay; then it answers again", async () => {
  using agent = await SnmpAgent.start(switchObjects("one"));
  using good = await SnmpAgent.start(switchObjects("good"));
  await using source = new RunningSource([agent.target, good.target]);
  await source.until(() => source.sink.devices.size === 2, "both switches");
  agent.isSilent = true;
  await source.reach("polls_unanswered_total", 1);
  expect(source.sink.devices.get("snmp:one")?.available).toBe(true);
  await source.until(() => source.sink.devices.get("snmp:one")?.available === false, "unavailability");
  expect(source.metric("polls_unanswered_total")).toBeGreaterThanOrEqual(3);
  expect(source.metric("agents_silent")).toBe(1);
  expect(source.sink.devices.get("snmp:one")?.annotations?.unansweredSince).toMatch(/^\d{4}-.*Z$/);
  expect(source.sink.ports.size).toBe(6);
  agent.isSilent = false;
  await source.until(() => source.sink.devices.get("snmp:one")?.available === true, "its return");
  expect(source.sink.devices.get("snmp:one")?.annotations).not.toHaveProperty("unansweredSince");
});

test("the only agent is silent: the source is stale, and its device becomes unavailable", async () => {
  using agent = await SnmpAgent.start(switchObjects("one"));
  await using source = new RunningSource([agent.target]);
  await source.until(() => source.sink.devices.size === 1, "the switch");
  agent.isSilent = true;
  await source.until(() => source.sink.devices.get("snmp:one")?.available === false, "unavailability");
  expect(source.sink.staleReasons).toContain(`${agent.target}: no reply`);
});

test("addresses of a block: those that answer join, also later; the others are no devices", async () => {
  const [first, second] = ["127.2.0.1", "127.2.0.5"];
  using one = await SnmpAgent.start(switchObjects("one"), first);
  await using source = new RunningSource([`127.2.0.0/29:${one.port}`], { scanSeconds: 1 });
  await source.until(() => source.sink.devices.size === 1, "the first switch");
  expect([source.metric("addresses"), source.metric("agents")]).toEqual([6, 1]);
  using _two = await SnmpAgent.start(switchObjects("two"), second, one.port);
  await source.until(() => source.sink.devices.size === 2, "the second switch");
  expect(source.metric("agents")).toBe(2);
  expect(source.metric("agents_silent")).toBe(0);
});

test("after a restart, what a silent agent reported before stays until it answers", async () => {
  using agent = await SnmpAgent.start(switchObjects("one"));
  using good = await SnmpAgent.start(switchObjects("good"));
  const targets = [agent.target, good.target];
  const before = new RunningSource(targets);
  await before.until(() => before.sink.devices.size === 2, "both switches");
  await before.stop();
  agent.isSilent = true;
  await using source = new RunningSource(targets, {}, before.sink.all());
  await source.until(() => source.sink.changeLog.length > 0, "the first report");
  expect(source.sink.devices.get("snmp:one")).toMatchObject({ available: true });
  expect(source.sink.ports.size).toBe(6);
  await source.until(() => source.sink.devices.get("snmp:one")?.available === false, "unavailability");
  expect(source.sink.ports.size).toBe(6);
  agent.isSilent = false;
  agent.objects = switchObjects("one", 5);
  await source.until(() => source.sink.devices.get("snmp:one")?.available === true, "its return");
  expect(source.sink.ports.size).toBe(8);
});

test("after an abort no descriptor is left", async () => {
  using good = await SnmpAgent.start(switchObjects("good"));
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const before = descriptors();
  const source = new RunningSource([good.target, "127.3.0.0/24:9"], { timeoutSeconds: 30 });
  await source.until(() => descriptors() > before + 20, "requests under way");
  await source.stop();
  await until(() => descriptors() <= before, { what: "the descriptors" });
});

test("an agent over IPv6, and one by its name", async () => {
  using agent = await SnmpAgent.start(switchObjects("six"), "::1");
  using named = await SnmpAgent.start(switchObjects("named"));
  await using source = new RunningSource([agent.target, `localhost:${named.port}`]);
  await source.until(() => source.sink.devices.has("snmp:six"), "the switch");
  expect(source.sink.devices.get("snmp:six")?.annotations?.channelId).toBe(agent.target);
});

/** The id of the message, which a reply must have. */
function messageId(datagram: Uint8Array): Uint8Array {
  // 30 LL 02 01 03 30 LL 02 LL …: the header begins after the version.
  const at = datagram.findIndex((byte, i) => byte === 0x30 && i > 3 && datagram[i + 2] === 2);
  return datagram.subarray(at + 2, at + 4 + (datagram[at + 3] ?? 0));
}

const int = (...bytes: number[]) => tlv(2, Buffer.from(bytes));

function v3Message(datagram: Uint8Array, pdu: Uint8Array, boots: number): Uint8Array {
  const engine = tlv(4, Buffer.from("80000000010203", "hex"));
  const usm = tlv(0x30, engine, int(boots), int(boots), tlv(4), tlv(4), tlv(4));
  const header = tlv(0x30, messageId(datagram), int(0, 255, 255), tlv(4, Buffer.from([0])), int(3));
  return tlv(0x30, int(3), header, tlv(4, usm), tlv(0x30, engine, tlv(4), pdu));
}

/** A report of an engine that is always at its start, which the library answers with the request again. */
const reportFor = (datagram: Uint8Array, boots = 0): Uint8Array => {
  const counter = tlv(6, Buffer.from("2b060106030f01010400", "hex"));
  return v3Message(
    datagram,
    tlv(0xa8, int(1), int(0), int(0), tlv(0x30, tlv(0x30, counter, tlv(0x41, Buffer.from([1]))))),
    boots,
  );
};

const responseFor = (datagram: Uint8Array): Uint8Array =>
  v3Message(
    datagram,
    tlv(
      0xa2,
      int(1),
      int(0),
      int(0),
      tlv(0x30, tlv(0x30, tlv(6, Buffer.from("2b06010201010500", "hex")), tlv(4, Buffer.from("forged")))),
    ),
    7,
  );
