/** The options of the `restconf` source. */
import Type from "typebox";
import { intervalSeconds } from "../source-options.ts";
import { upstreamOptions } from "../upstream/options.ts";

export const RestconfOptions = Type.Object(
  {
    ...upstreamOptions,
    intervalSeconds: intervalSeconds(30),
    restartGraceSeconds: Type.Integer({
      minimum: 0,
      maximum: 3600,
      default: 60,
      description:
        "After the server was unreachable: how long a list that lacks known devices or links is not applied.",
    }),
  },
  { additionalProperties: false },
);
export type RestconfOptions = Type.Static<typeof RestconfOptions>;
