/** A users file that a test rewrites. It begins with `ann`, whose password is "one", and `bob`, whose password is "two". */
import { join } from "node:path";
import { hashPassword } from "../../src/api/auth/password.ts";
import { openUsers, type Users } from "../../src/api/auth/users.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { temporaryFolder } from "../support/folder.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/until.ts";

/** In the text to write, ONE and TWO stand for the hashes of the two passwords. `write` resolves once it was read. */
export async function withUsersFile(
  body: (users: Users, write: (text: string) => Promise<void>) => Promise<void>,
) {
  const file = join(temporaryFolder(), "users");
  const [one, two] = await Promise.all([hashPassword("one"), hashPassword("two")]);
  await Bun.write(file, `ann:${one}\nbob:${two}\n`);
  const clock = new ManualClock();
  const users = await openUsers({ file, clock, logger: silentLogger });
  const stop = new AbortController();
  const watching = users.watch(stop.signal);
  try {
    await body(users, async (text) => {
      const before = users.all();
      await Bun.write(file, text.replaceAll("ONE", one).replaceAll("TWO", two));
      await until(() => clock.advance(1000).then(() => users.all() !== before), { what: "the users file" });
    });
  } finally {
    stop.abort();
    await watching;
  }
}
