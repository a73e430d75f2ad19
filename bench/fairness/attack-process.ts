/**
 * One attack, in a process of its own: `bun bench/fairness/attack-process.ts NAME TARGET`, where TARGET is JSON. Prints
 * `started`; on `stop` (or the end of standard input) ends the attack and prints `stopped REMARK`.
 */
import type { Target } from "../../test/support/attacks/attack.ts";
import { ATTACKS } from "../../test/support/attacks/attacks.ts";

const [name, json = "{}"] = process.argv.slice(2);
const target: Target = JSON.parse(json);
const attack = ATTACKS.find((each) => each.name === name);
if (!attack) throw new Error(`no attack ${name}`);
const stop = await attack.start(target);
console.log("started");
for await (const line of console) if (line === "stop") break;
console.log(`stopped ${(await stop()) ?? ""}`);
process.exit(0);
