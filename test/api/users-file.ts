/** Users in a file that a test rewrites: `ann` with the password "one", `bob` with "two". */
import { join } from "node:path";
import { hashPassword } from "../../src/api/auth/password.ts";
import { openUsers, type Users } from "../../src/api/auth/users.ts";
import { ManualClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";

/** In what is written, ONE and TWO stand for the hashes of the two passwords; it is read before `write` resolves. */
export async function withUsersFile(
  body: (users: Users, write: (text: string) => Promise<void>) => Promise<void>,
) {
  const file = join(temporaryFolder(), "users");
  const [one, two] = await Promise.all([hashPassword("one"), hashPassword("two")]);
  await Bun.write(file, `ann:${one}\nbob:${two}\n`);
  const clock = new ManualClock();
  const users = await openUsers({ file, clock, logger: silentLogger });
  const ended = new AbortController();
  const following = users.follow(ended.signal);
  try {
    await body(users, async (text) => {
      const before = users.all();
      await Bun.write(file, text.replaceAll("ONE", one).replaceAll("TWO", two));
      await until(() => clock.advance(1000).then(() => users.all() !== before), { what: "the users file" });
    });
  } finally {
    ended.abort();
    await following;
  }
}
