/** The options of the `controller` source. */
import Type from "typebox";
import { intervalSeconds } from "../poll-options.ts";
import { upstreamOptions } from "../upstream/options.ts";

export const DEFAULT_INTERVAL_SECONDS = 5;

export const ControllerOptions = Type.Object(
  {
    ...upstreamOptions,
    intervalSeconds: intervalSeconds(DEFAULT_INTERVAL_SECONDS),
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
