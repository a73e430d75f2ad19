/**
 * The `controller` source: reads the network from ONOS, from any service with the same read API, or from another Gazetteer. The
 * peer is identified when the source starts and after each failure, because it may be replaced under the same address.
 */
import Type from "typebox";
import { createPollLoop } from "../poll-loop.ts";
import { checkOf, type Source, type SourceContext } from "../source.ts";
import { intervalSeconds } from "../source-options.ts";
import { upstreamOptions } from "../upstream/options.ts";
import { Upstream } from "../upstream/upstream.ts";
import { GazetteerFollower } from "./gazetteer.ts";
import { OnosPoller } from "./onos.ts";
import { identifyPeer } from "./peer.ts";

export function createControllerSource(
  options: ControllerOptions & { name: string },
  { clock, logId }: SourceContext,
): Source {
  const { name, intervalSeconds } = options;
  const upstream = new Upstream(options, { clock });
  const counters = { snapshots: 0, connections: 0, revision: 0, refused: false };
  let polls = 0;
  let failures = 0;
  return {
    name,
    metrics: () => ({
      polls_total: polls,
      failed_polls_total: failures,
      snapshots_total: counters.snapshots,
      connections_total: counters.connections,
      upstream_revision: counters.revision,
      loop: counters.refused ? 1 : 0,
    }),
    check: async () => checkOf(await upstream.checkFiles()),
    async run(sink, signal) {
      const intervalMs = intervalSeconds * 1000;
      const onos = new OnosPoller(upstream);
      const follower = new GazetteerFollower({
        upstream,
        sink,
        signal,
        clock,
        intervalMs,
        ownLogId: logId?.(),
        counters,
      });
      let isOnos = false;
      const poll = async () => {
        if (!isOnos) {
          const peer = await identifyPeer(upstream, signal);
          if (!peer.ok) return peer;
          if (peer.kind === "gazetteer") return follower.follow();
          sink.setUpstreamLogs?.([]);
        }
        const result = await onos.poll(sink, signal);
        isOnos = result.ok;
        return result;
      };
      await createPollLoop({ sink, intervalMs, clock, signal }).run(async () => {
        polls++;
        const result = await poll();
        if (!result.ok && !signal.aborted) failures++;
        return result;
      });
    },
  };
}

export const ControllerOptions = Type.Object(
  {
    ...upstreamOptions,
    intervalSeconds: intervalSeconds(5),
    forward: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^(/onos/(?!v1$))?[A-Za-z0-9_][A-Za-z0-9._-]{0,62}$",
          title: "one path segment, such as flows, or another context of ONOS, such as /onos/sadis",
        }),
        {
          maxItems: 64,
          description:
            "First segments of paths under `/onos/v1`, and other contexts such as `/onos/sadis`, whose requests are passed on to this controller.",
        },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ControllerOptions = Type.Static<typeof ControllerOptions>;
