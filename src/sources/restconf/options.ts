/** The options of the `restconf` source. */
import Type from "typebox";
import { intervalSeconds } from "../source-options.ts";
import { upstreamOptions } from "../upstream/options.ts";

export const DEFAULT_INTERVAL_SECONDS = 30;
export const DEFAULT_GRACE_SECONDS = 60;

export const RestconfOptions = Type.Object(
  {
    ...upstreamOptions,
    intervalSeconds: intervalSeconds(DEFAULT_INTERVAL_SECONDS),
    restartGraceSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3600,
        default: DEFAULT_GRACE_SECONDS,
        description:
          "After the server was unreachable: how long a list that lacks known devices or links is not applied.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type RestconfOptions = Type.Static<typeof RestconfOptions>;
