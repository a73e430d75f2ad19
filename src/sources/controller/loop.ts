/**
 * Loops of services that read from each other. In a loop no claim would ever end: each service would show what the next
 * one still shows.
 *
 * Every service shows the logs that its sources come from (`Sink.setUpstreamLogs`, `/readyz`), also those of a source that
 * it refuses, and refuses a source whose upstream has this service's own log in that list. So every source that is part of
 * a loop is refused, in whatever order the services start, and as long as the loop is configured. A source checks again in
 * each interval, so a loop over several services is found after as many intervals at the most, and so is its end.
 */
import { quote } from "../../lib/error-text.ts";
import type { GazetteerPeer } from "./peer.ts";

/** The logs that a source of this peer comes from, each once. */
export const upstreamLogsOf = ({ logId, sources }: GazetteerPeer): string[] => [
  ...new Set([logId, ...sources.flatMap(({ upstreamLogs }) => upstreamLogs)]),
];

/** One line for the operator; undefined when reading from the peer makes no loop. */
export function describeLoop(
  ownLogId: string | undefined,
  peer: GazetteerPeer,
  host: string,
): string | undefined {
  if (ownLogId === undefined) return undefined;
  if (peer.logId === ownLogId) {
    return `refused: ${host} has the log of this service (${ownLogId}); it is this service itself, or a copy of its data folder`;
  }
  const source = peer.sources.find(({ upstreamLogs }) => upstreamLogs.includes(ownLogId));
  if (!source) return undefined;
  const way = source.upstreamLogs[0] === ownLogId ? "" : " through another Gazetteer";
  return `refused, a loop: this service (log ${ownLogId}) reads from ${host} (log ${peer.logId}), whose source ${quote(source.name)} reads from this service${way}; remove one of these sources`;
}
