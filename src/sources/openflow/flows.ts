/**
 * The flows that this source installs. All carry one cookie, which distinguishes them from the flows of another
 * controller and identifies them after a restart.
 *
 * `bridge` uses two tables. Table 0 sends probes and copies of announcements to the controller, and passes all other
 * frames to table 1, which has one NORMAL flow per open port. Frames from a port without such a flow are dropped, so a
 * port that is not classified yet cannot close a loop. Frames from ports that lead to another switch are not copied: the
 * switch at the edge has copied them already.
 */
import { ND } from "./codec/announcement.ts";
import { ETHER } from "./codec/ethernet.ts";
import type { Match } from "./codec/flow-entry.ts";
import { ALL_TABLES, FLOW_COMMAND, type FlowMod } from "./codec/openflow-messages.ts";
import { PORT } from "./codec/port.ts";
import { macNumber } from "./codec/wire.ts";
import type { OpenflowSettings } from "./options.ts";

/** The text "gazettee" in ASCII. */
export const COOKIE = 0x67617a6574746565n;
export const COOKIE_MASK = 0xffffffffffffffffn;
/** Source address of the ARP and ND probes to hosts: locally administered, the same on every switch. */
export const PROBE_SOURCE_MAC = "02:67:7A:74:00:01";

const PROBE_TABLE = 0;
const FORWARDING_TABLE = 1;
const PRIORITY = {
  probe: 65_000,
  reply: 64_000,
  link: 50_000,
  announcement: 40_000,
  open: 100,
  fallback: 0,
} as const;

const addFlow = (
  table: number,
  priority: number,
  match: Match,
  output: readonly number[],
  gotoTable?: number,
): FlowMod => ({
  cookie: COOKIE,
  table,
  command: FLOW_COMMAND.add,
  priority,
  match,
  instructions: { output, ...(gotoTable !== undefined && { gotoTable }) },
});

const deleteFlow = (flow: FlowMod): FlowMod => ({
  ...flow,
  command: FLOW_COMMAND.deleteStrict,
  cookieMask: COOKIE_MASK,
  instructions: {},
});

const ICMPV6 = 58;
const UDP = 17;
const ANNOUNCEMENTS: readonly Match[] = [
  { ethType: ETHER.arp },
  ...Object.values(ND).map((icmpv6Type) => ({ ethType: ETHER.ipv6, ipProto: ICMPV6, icmpv6Type })),
  { ethType: ETHER.ipv4, ipProto: UDP, udpSrc: 68, udpDst: 67 },
  { ethType: ETHER.ipv4, ipProto: UDP, udpSrc: 67, udpDst: 68 },
];

/** Seconds without a refresh after which a switch drops the flow and forwards broadcast probes like any broadcast. */
export const BROADCAST_PROBE_SECONDS = 30;

/**
 * The flow for broadcast probes, which is sent again with every round of probes. A switch without a session keeps forwarding
 * by its last flows, perhaps for hours. Once this flow has expired on such a switch, broadcast probes pass through the
 * switch, which shows that it still forwards.
 */
export const broadcastProbeFlow: FlowMod = {
  ...addFlow(PROBE_TABLE, PRIORITY.probe, { ethType: ETHER.broadcastProbe }, [PORT.controller]),
  hardTimeout: BROADCAST_PROBE_SECONDS,
};

/** The flows that every switch gets when it connects. */
export function baseFlows({ forwarding, announcements }: OpenflowSettings): FlowMod[] {
  const toController = [PORT.controller];
  const flows = [
    addFlow(PROBE_TABLE, PRIORITY.probe, { ethType: ETHER.lldp }, toController),
    broadcastProbeFlow,
    addFlow(PROBE_TABLE, PRIORITY.reply, { ethDst: macNumber(PROBE_SOURCE_MAC) }, toController),
  ];
  if (forwarding === "bridge") {
    for (const match of ANNOUNCEMENTS) {
      flows.push(addFlow(PROBE_TABLE, PRIORITY.announcement, match, toController, FORWARDING_TABLE));
    }
    flows.push(addFlow(PROBE_TABLE, PRIORITY.fallback, {}, [], FORWARDING_TABLE));
  } else if (announcements === "copy") {
    for (const match of ANNOUNCEMENTS) {
      flows.push(addFlow(PROBE_TABLE, PRIORITY.announcement, match, [PORT.controller, PORT.normal]));
    }
  }
  return flows;
}

/** Deletes all flows that this source installed before a restart. */
export const deleteOwnFlows: FlowMod = {
  cookie: COOKIE,
  cookieMask: COOKIE_MASK,
  table: ALL_TABLES,
  command: FLOW_COMMAND.delete,
  priority: 0,
  match: {},
  instructions: {},
};

const openFlow = (inPort: number) => addFlow(FORWARDING_TABLE, PRIORITY.open, { inPort }, [PORT.normal]);
const linkFlow = (inPort: number) => addFlow(PROBE_TABLE, PRIORITY.link, { inPort }, [], FORWARDING_TABLE);

export interface PortRule {
  /** Whether frames that are received on the port are forwarded. */
  readonly open: boolean;
  /** Whether the port leads to another switch. If so, announcements are not copied to the controller. */
  readonly link: boolean;
}

/** Returns the flow changes that lead from the current rule of a port (undefined after a restart) to the new one. */
export function ruleFlows(port: number, rule: PortRule, current: PortRule | undefined): FlowMod[] {
  const flows: FlowMod[] = [];
  const link = linkFlow(port);
  const open = openFlow(port);
  if (rule.link !== current?.link) flows.push(rule.link ? link : deleteFlow(link));
  if (rule.open !== current?.open) flows.push(rule.open ? open : deleteFlow(open));
  return flows;
}
