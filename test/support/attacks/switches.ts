/** Rogue switches: sessions with very many ports and hosts, ever new datapath ids, and floods of port changes. */
import { PORT_REASON } from "../../../src/sources/openflow/codec/openflow-messages.ts";
import { arpRequest } from "../../sources/openflow/emulated-host.ts";
import { EmulatedNetwork, type EmulatedSwitch } from "../../sources/openflow/emulator.ts";
import { type Attack, repeat, type Stop, sleep, type Target } from "./attack.ts";

const PORTS = 8190;
const ARPS = 10_500;
const FIRST_DPID = 0x6000;
/** Longer than the source waits before a new port becomes an edge port. */
const SETTLE_MS = 700;
const FLOOD_INTERVAL_MS = 10;
const CHANGES_PER_INTERVAL = 200;

async function connected(net: EmulatedNetwork, dpid: number, ports: number, port: number) {
  const sw = net.add(dpid, ports);
  await sw.connect({ port });
  await sw.helloReceived;
  return sw;
}

const macOf = (sw: number, n: number): string =>
  [0x06, sw, 0, n >> 16, (n >> 8) & 0xff, n & 0xff]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join(":");

function announceHosts(sw: EmulatedSwitch, index: number): void {
  for (let n = 0; n < ARPS; n++) {
    const ip = `10.${200 + index}.${(n >> 8) & 0xff}.${n & 0xff}`;
    const frame = arpRequest(macOf(index, n), ip, ip);
    sw.send("packetIn", { reason: 1, inPort: 1 + (n % PORTS), frame });
  }
}

/** Two sessions come, announce their hosts and go, again and again. */
async function startRogueSessions({ openflowPort }: Target): Promise<Stop> {
  return repeat(async (signal) => {
    const net = new EmulatedNetwork();
    try {
      const switches = await Promise.all(
        [0, 1].map((index) => connected(net, FIRST_DPID + index, PORTS, openflowPort)),
      );
      await sleep(SETTLE_MS, signal);
      for (const [index, sw] of switches.entries()) announceHosts(sw, index);
      await sleep(3000, signal);
    } finally {
      net.disconnect();
    }
  });
}

async function startNewDatapaths({ openflowPort }: Target): Promise<Stop> {
  let dpid = FIRST_DPID + 0x100;
  return repeat(async (signal) => {
    const net = new EmulatedNetwork();
    try {
      await connected(net, dpid++, PORTS, openflowPort);
      await sleep(200, signal);
    } finally {
      net.disconnect();
    }
  });
}

async function startPortFlood({ openflowPort }: Target): Promise<Stop> {
  const net = new EmulatedNetwork();
  const sw = await connected(net, FIRST_DPID + 2, 100, openflowPort);
  let n = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < CHANGES_PER_INTERVAL; i++, n++) {
      const port = sw.ports.get(1 + (n % 100));
      if (!port) continue;
      port.up = !port.up;
      sw.send("portStatus", { reason: PORT_REASON.modify, port: sw.describe(port) });
    }
  }, FLOOD_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    net.disconnect();
    return `${n} changes sent`;
  };
}

export const SWITCH_ATTACKS: readonly Attack[] = [
  {
    name: "rogue-switches",
    what: "two OpenFlow sessions with 8,190 ports and 10,500 ARPs each",
    start: startRogueSessions,
  },
  { name: "new-datapaths", what: "ever new datapath ids with 8,190 ports", start: startNewDatapaths },
  { name: "port-flood", what: "20,000 port changes a second from one session", start: startPortFlood },
];
