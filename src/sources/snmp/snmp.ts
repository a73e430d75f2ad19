/**
 * The `snmp` source: polls the SNMP agents of devices and claims what they report about themselves, their neighbours and
 * the hosts behind their ports. This file builds a run from the options. The polls are in poller.ts and fleet.ts, the
 * mapping is in map-agent.ts and join-agents.ts.
 */
import { sameJson } from "../../lib/same-json.ts";
import { type Source, type SourceContext, SourceError } from "../source.ts";
import { Fleet } from "./fleet/fleet.ts";
import { Poller } from "./fleet/poller.ts";
import { parseTargets, type SnmpOptions, type Target } from "./options.ts";
import { readCredentials, type SnmpCredentials } from "./protocol/agent-session.ts";
import { Pacer } from "./protocol/agent-socket.ts";
import { SnmpCounters } from "./protocol/outcomes.ts";
import { EngineFile } from "./protocol/usm-engine.ts";
import type { AgentReport } from "./tables/agent-report.ts";
import { mapAgent } from "./tables/map-agent.ts";
import type { AgentData } from "./tables/mib.ts";

export function createSnmpSource(
  { name, ...options }: SnmpOptions & { name: string },
  context: SourceContext,
): Source {
  const { clock, log } = context;
  const counters = new SnmpCounters();
  let fleet: Fleet | undefined;

  const createFleet = (targets: readonly Target[], credentials: SnmpCredentials) =>
    new Fleet(targets, credentials, {
      clock,
      log,
      counters,
      name,
      pacer: new Pacer(clock, options.packetsPerSecond),
      timeoutMs: options.timeoutSeconds * 1000,
      retries: options.retries,
      concurrency: options.concurrency,
      maxVarbinds: options.maxVarbinds,
      maxAgentMs: options.maxAgentSeconds * 1000,
      map: mapWithChannel,
    });

  return {
    name,
    metrics: () => ({ ...counters.all(), ...(fleet ? gauges(fleet) : {}) }),
    async run(sink, signal) {
      const parsed = parseTargets(options.targets, options.port);
      // The registry has already checked the targets.
      if (!parsed.ok) throw new SourceError(parsed.faults[0]?.message ?? "targets are not valid");
      const first = await readCredentials(options);
      if (!first.ok) throw new SourceError(first.message);
      let credentials = first.credentials;
      const running = createFleet(parsed.targets, credentials);
      fleet = running;
      const engines = new EngineFile(name, context);
      await engines.restore(running.agents);
      const poller = new Poller({
        fleet: running,
        sink,
        clock,
        signal,
        intervalMs: options.intervalSeconds * 1000,
        scanMs: options.scanSeconds * 1000,
        async beforeRound() {
          const read = await readCredentials(options);
          if (!read.ok) log.warn("credentials cannot be read", { source: name, error: read.message });
          else if (!sameJson(read.credentials, credentials)) {
            credentials = read.credentials;
            running.credentials = credentials;
          }
        },
        afterReport: () => engines.save(running.agents),
      });
      try {
        await poller.run();
      } finally {
        await engines.save(running.agents, { isLast: true });
      }
    },
  };
}

/** Adds the target as `channelId`, by which a device is found after a restart before its agent has answered. */
function mapWithChannel(data: AgentData): AgentReport {
  const report = mapAgent(data);
  const annotations = { ...report.device.annotations, channelId: data.target };
  return { ...report, device: { ...report.device, annotations } };
}

function gauges(fleet: Fleet): Readonly<Record<string, number>> {
  const members = fleet.members();
  const failing = members.filter(({ failure }) => failure !== undefined);
  return {
    addresses: fleet.agents.length,
    agents: members.length,
    agents_silent: members.filter(({ unansweredSince }) => unansweredSince !== undefined).length,
    agents_failing: failing.filter(({ failure }) => failure?.reason !== "silent").length,
  };
}
