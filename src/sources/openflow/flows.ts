/**
 * The flows this source installs, and nothing else about them. All carry our cookie, so that they can be told from
 * another controller's and found again after a restart.
 *
 * `bridge` uses two tables. Table 0 brings probes here, copies announcements here, and sends everything on to
 * table 1, which holds one flow for each port that may forward: NORMAL. A port without a flow there takes in nothing,
 * so a port nobody has judged yet cannot be part of a loop. Ports that lead to another switch skip the copies: the
 * switch at the edge has made them already.
 */
import { ND } from "./codec/announcement.ts";
import { ETHER } from "./codec/ethernet.ts";
import { PORT } from "./codec/instruction.ts";
import type { Match } from "./codec/match.ts";
import { ALL_TABLES, FLOW_COMMAND, type FlowMod } from "./codec/messages.ts";
import type { Settings } from "./options.ts";

/** "gazettee" in ASCII. */
export const COOKIE = 0x67617a6574746565n;
export const COOKIE_MASK = 0xffffffffffffffffn;
/** The station we are when we ask a host whether it is still there: locally administered, the same everywhere. */
export const OUR_MAC = "02:67:7A:74:00:01";

const PROBES = 0;
const FORWARDING = 1;
const PRIORITY = {
  probe: 65_000,
  answer: 64_000,
  link: 50_000,
  announcement: 40_000,
  open: 100,
  rest: 0,
} as const;

const add = (
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

const remove = (flow: FlowMod): FlowMod => ({
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

/** How long a switch keeps back broadcast probes when nobody tells it to go on. */
export const BROADCAST_PROBE_SECONDS = 30;

/**
 * Sent again with every round of probes. A switch that has lost us forwards by its last rules, perhaps for hours; once
 * this flow has run out it passes broadcast probes on as it does any broadcast, and so shows that it still forwards.
 */
export const broadcastProbeFlow: FlowMod = {
  ...add(PROBES, PRIORITY.probe, { ethType: ETHER.broadcastProbe }, [PORT.controller]),
  hardTimeout: BROADCAST_PROBE_SECONDS,
};

/** What every switch gets when it connects. */
export function baseFlows({ forwarding, announcements }: Settings): FlowMod[] {
  const here = [PORT.controller];
  const flows = [
    add(PROBES, PRIORITY.probe, { ethType: ETHER.lldp }, here),
    broadcastProbeFlow,
    add(PROBES, PRIORITY.answer, { ethDst: OUR_MAC }, here),
  ];
  if (forwarding === "bridge") {
    for (const match of ANNOUNCEMENTS) {
      flows.push(add(PROBES, PRIORITY.announcement, match, here, FORWARDING));
    }
    flows.push(add(PROBES, PRIORITY.rest, {}, [], FORWARDING));
  } else if (announcements === "copy") {
    for (const match of ANNOUNCEMENTS) {
      flows.push(add(PROBES, PRIORITY.announcement, match, [PORT.controller, PORT.normal]));
    }
  }
  return flows;
}

/** Takes away all that an earlier life of ours left behind. */
export const forgetAll: FlowMod = {
  cookie: COOKIE,
  cookieMask: COOKIE_MASK,
  table: ALL_TABLES,
  command: FLOW_COMMAND.delete,
  priority: 0,
  match: {},
  instructions: {},
};

const openFlow = (inPort: number) => add(FORWARDING, PRIORITY.open, { inPort }, [PORT.normal]);
const linkFlow = (inPort: number) => add(PROBES, PRIORITY.link, { inPort }, [], FORWARDING);

/** How the bridge treats a port: what comes in is forwarded or not, and announcements are copied here or not. */
export interface PortRule {
  readonly open: boolean;
  readonly link: boolean;
}

/** The flows that bring a port from the rule it has (unknown after a restart) to the one it shall have. */
export function ruleFlows(port: number, rule: PortRule, has: PortRule | undefined): FlowMod[] {
  const flows: FlowMod[] = [];
  const link = linkFlow(port);
  const open = openFlow(port);
  if (rule.link !== has?.link) flows.push(rule.link ? link : remove(link));
  if (rule.open !== has?.open) flows.push(rule.open ? open : remove(open));
  return flows;
}
