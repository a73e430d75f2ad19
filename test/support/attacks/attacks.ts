/** The table of attacks, in the order in which they are measured. */
import type { Attack } from "./attack.ts";
import { CONNECTION_ATTACKS } from "./connections.ts";
import { LOGIN_ATTACKS } from "./login.ts";
import { REQUEST_ATTACKS } from "./requests.ts";
import { LOADING_ATTACK, SOURCE_ATTACKS } from "./sources.ts";
import { SWITCH_ATTACKS } from "./switches.ts";

export const ATTACKS: readonly Attack[] = [
  { name: "nothing", what: "no attack, only the changes", start: async () => async () => undefined },
  ...REQUEST_ATTACKS,
  ...SOURCE_ATTACKS,
  ...CONNECTION_ATTACKS,
  ...LOGIN_ATTACKS,
  ...SWITCH_ATTACKS,
  LOADING_ATTACK,
];
