/** The options that all polled sources have in common. */
import Type from "typebox";

const MAX_INTERVAL_SECONDS = 86_400;

/** How often a source polls, in seconds. The default is that of the kind of source. */
export const intervalSeconds = (defaultSeconds: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_INTERVAL_SECONDS,
      default: defaultSeconds,
      description: "Seconds between two polls.",
    }),
  );
