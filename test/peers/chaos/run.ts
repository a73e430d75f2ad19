/** One run: everything is started, disturbed as planned, brought back, and checked. */

import { shortenLeases } from "../../cluster/service-nodes.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { until } from "../../support/until.ts";
import { startChurn } from "./churn.ts";
import { Consumer } from "./consumer.ts";
import { Disturber } from "./disturb.ts";
import { checkHistory, unsettled } from "./final-check.ts";
import { buildLab, CLUSTER, type Lab } from "./lab.ts";
import { Observed } from "./observed.ts";
import type { Plan } from "./plan.ts";
import { SERVERS } from "./plan.ts";
import { Reader } from "./reader.ts";
import { checkStream } from "./stream-check.ts";
import { Switches } from "./switches.ts";

const CHANGE_EVERY_MS = 250;
const ROAM_EVERY_MS = 4_000;
/** Ends a hang: leases that end, nodes that load a snapshot, a slow machine. */
const SETTLE_DEADLINE_MS = 240_000;

/** Many values differ for one reason; what is checked afterwards must be seen, too. */
const SHOWN_UNSETTLED = 5;

export interface ChaosEngine {
  /** The nats-server to run. */
  readonly program: string;
  /** Whether it loses what it has delivered: then a change that was shown may be missing, but the views are equal at the end. */
  readonly isLossy: boolean;
}

/** Rejects with the faults, the events, and the ends of the nodes' logs. */
export async function runChaos(plan: Plan, client: ChaosEngine): Promise<void> {
  const observed = new Observed(client.isLossy);
  await using lab = await buildLab(observed, client.program);
  const disturber = new Disturber(lab, observed);
  try {
    await runIn(lab, plan, disturber, observed);
  } catch (error) {
    observed.fault(String(error));
  }
  if (observed.faults.length > 0) throw new Error(reportOf(plan, observed, disturber, lab));
}

async function runIn(lab: Lab, plan: Plan, disturber: Disturber, observed: Observed): Promise<void> {
  const { nodes, nats } = lab;
  if (plan.leaseTtlMs !== undefined)
    await shortenLeases({ nats, name: CLUSTER, replicas: SERVERS }, plan.leaseTtlMs);
  await using churn = startChurn(temporaryFolder(), plan.seed, CHANGE_EVERY_MS);
  for (const node of nodes) node.configure(churn.sources);
  await Promise.all(nodes.map((node) => node.start()));
  const switches = new Switches();
  switches.start(nodes.map(({ openflowPort }) => openflowPort));
  const consumers = consumersOf(lab, observed);
  const readers = [...nodes.map((node) => new Reader([node], observed)), new Reader(nodes, observed)];
  for (const each of [...consumers, ...readers]) each.start();
  const roaming = setInterval(() => consumers.at(-1)?.reconnect(), ROAM_EVERY_MS);
  console.log(`${observed.elapsed} all nodes run`);
  await disturber.run(plan);
  console.log(`${observed.elapsed} everything is back`);
  churn.stop();
  if (!nodes.every(({ isUp }) => isUp)) throw new Error("a node does not run at the end");
  await until(async () => (await unsettled(nodes, churn, switches, consumers)).length === 0, {
    what: "equal views",
    deadlineMs: SETTLE_DEADLINE_MS,
    everyMs: 1000,
  }).catch(async (error) => {
    const faults = await unsettled(nodes, churn, switches, consumers);
    for (const fault of faults.slice(0, SHOWN_UNSETTLED)) observed.fault(fault);
    observed.fault(`${error}; ${faults.length} values are not what they should be`);
  });
  clearInterval(roaming);
  console.log(`${observed.elapsed} settled`);
  await Promise.all([...consumers, ...readers].map((each) => each.stop()));
  switches.stop();
  if (switches.rivalChanges > 0)
    observed.fault(`switches accepted ${switches.rivalChanges} changes of a controller beside their master`);
  await checkHistory(nodes, observed);
  const { faults, losses, ...counts } = await checkStream(lab);
  for (const fault of faults) observed.fault(fault);
  for (const loss of losses) observed.loss(loss);
  if (counts.lastRevision < observed.highestRevision)
    observed.loss(`the log ends at ${counts.lastRevision}; ${observed.highestRevision} was shown`);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  console.log(
    `log: ${JSON.stringify(counts)}; generations of switches: ${switches.takeovers}; changes: ${churn.networks.map(({ count }) => count).join(" and ")}; ` +
      `reads: ${sum(readers.map(({ reads }) => reads))}, rejected as overloaded: ${sum(readers.map(({ overloaded }) => overloaded))}; consumers: ${sum(consumers.map(({ events }) => events))} events, ` +
      `${sum(consumers.map(({ connections }) => connections))} connections, ${sum(consumers.map(({ resets }) => resets))} resets`,
  );
}

/** One for each node, and one that goes from node to node. */
function consumersOf({ nodes }: Lab, observed: Observed): Consumer[] {
  const credentials = "reader:secret";
  let turn = 0;
  const next = (): string => {
    const up = nodes.filter(({ isUp }) => isUp);
    return (up[turn++ % Math.max(1, up.length)] ?? nodes[0])?.url ?? "";
  };
  return [
    ...nodes.map(
      ({ name, url }) =>
        new Consumer({ name: `the consumer of ${name}`, url: () => url, credentials, observed }),
    ),
    new Consumer({ name: "the roaming consumer", url: next, credentials, observed }),
  ];
}

function reportOf(
  { seed, durationMs, hasRoutes }: Plan,
  observed: Observed,
  { events }: Disturber,
  lab: Lab,
): string {
  return [
    `${observed.faults.length} faults; to run it again: npm run chaos -- --minutes ${durationMs / 60_000} --seed ${seed}${hasRoutes ? " --routes" : ""}`,
    ...observed.faults,
    "events:",
    ...events,
    ...lab.nodes.map(({ name, output }) => `---- ${name}:\n${output}`),
  ].join("\n");
}
