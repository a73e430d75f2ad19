/**
 * A network of the past. It moves to a moment nearby, later or earlier, by what differs between the two, so that playing the
 * past does not load the network again at each step. For a moment far away the lists are loaded: they cannot be longer than
 * what changed in a day. The same where the service no longer has the moment that is left.
 */
import { type Client, ClientError } from "../../client/client.ts";
import type { RevisionTime } from "../../client/types.ts";
import type { Network } from "./loaded-network.ts";
import {
  isNetworkDifference,
  loadNetworkAt,
  type NetworkDifference,
  parseMoment,
} from "./network-history.ts";
import { isRevision } from "./view-state.ts";

/** From the moment that is shown, the longest way that is loaded as differences. */
const MAX_MOVE_MS = 3_600_000;

export interface Past {
  readonly network: Network;
  /** Of the last change until then. */
  readonly moment: RevisionTime;
  /** Epoch milliseconds that the address names, of a revision its own: in a quiet network long after the last change. */
  readonly shownMs: number;
}

/** `previous` is moved in place where the moment is near it. An aborted call changes nothing. */
export async function loadPast(
  client: Client,
  at: string,
  previous: Past | undefined,
  signal: AbortSignal,
): Promise<Past> {
  const named = isRevision(at) ? await loadMoment(client, at, signal) : undefined;
  const shownMs = named?.time ?? Date.parse(at);
  if (previous && Math.abs(shownMs - previous.shownMs) <= MAX_MOVE_MS) {
    try {
      return { ...(await move(client, at, previous, signal)), shownMs };
    } catch (error) {
      // Which of the two moments is expired is known when the lists of the other are loaded.
      if (!(error instanceof ClientError && error.code === "revision-expired")) throw error;
    }
  }
  const moment = named ?? (await loadMoment(client, at, signal));
  // By revision, so that all lists are of one state.
  return { network: await loadNetworkAt(client, String(moment.revision), signal), moment, shownMs };
}

/** The difference of a moment to itself is empty, and has its revision and time. */
async function loadMoment(client: Client, at: string, signal: AbortSignal): Promise<RevisionTime> {
  const moment = parseMoment(at);
  return (await client.diff("devices", moment, moment, {}, { signal })).to;
}

async function move(
  client: Client,
  at: string,
  { network, moment }: Past,
  signal: AbortSignal,
): Promise<Omit<Past, "shownMs">> {
  const diff = await client.diff("topology", moment.revision, parseMoment(at), {}, { signal });
  signal.throwIfAborted();
  applyDifferences(network, diff.to.revision, diff.changes.filter(isNetworkDifference));
  return { network, moment: diff.to };
}

function applyDifferences(
  network: Network,
  revision: number,
  differences: readonly NetworkDifference[],
): void {
  for (const difference of differences) {
    if (difference.resource === "hosts") continue;
    if (difference.event === "removed") network.remove(difference.resource, difference.value.id);
    else network.set(difference);
  }
  const hosts = differences.filter((difference) => difference.resource === "hosts");
  network.openedHosts.moveTo(String(revision), revision, hosts);
}
