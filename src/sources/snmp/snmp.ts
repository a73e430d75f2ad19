/**
 * The `snmp` source: polls the SNMP agents of devices and claims what they report about themselves, their neighbours and
 * the hosts behind their ports. This file builds a run from the options. The polls are in poller.ts and fleet.ts, the
 * mapping is in map-agent.ts and join-agents.ts.
 */
import { sameJson } from "../../lib/same-json.ts";
import { type Source, type SourceContext, SourceError } from "../source.ts";
import { Fleet } from "./fleet/fleet.ts";
import { Poller } from "./fleet/poller.ts";
import { parseTargets, type SnmpOptions } from "./options.ts";
import { readCredentials } from "./protocol/agent-session.ts";
import { Pacer } from "./protocol/agent-socket.ts";
import { SnmpCounters } from "./protocol/outcomes.ts";
import { EngineFile } from "./protocol/usm-engine.ts";

export function createSnmpSource(
  { name, ...options }: SnmpOptions & { name: string },
  context: SourceContext,
): Source {
  const { clock, log } = context;
  const counters = new SnmpCounters();
  let fleet: Fleet | undefined;

  return {
    name,
    metrics: () => ({ ...counters.all(), ...(fleet ? gauges(fleet) : {}) }),
    async run(sink, signal) {
      const parsed = parseTargets(options.targets, options.port);
      // The registry has already checked the targets.
      if (!parsed.ok) throw new SourceError(parsed.faults[0]?.message ?? "targets are not valid");
      const first = await readCredentials(options);
      if (!first.ok) throw new SourceError(first.message);
      const pacer = new Pacer(clock, options.packetsPerSecond);
      const running = new Fleet(parsed.targets, first.credentials, {
        ...options,
        name,
        clock,
        log,
        counters,
        pacer,
        timeoutMs: options.timeoutSeconds * 1000,
        maxAgentMs: options.maxAgentSeconds * 1000,
      });
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
          else if (!sameJson(read.credentials, running.credentials)) running.credentials = read.credentials;
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
