/** `gazetteer servers`: lists and changes the services that `gazetteer login` stored. Passwords and tokens are not shown. */

import { wantsColour } from "./client-command.ts";
import { type Command, EXIT_STATUS, usageFailure } from "./command.ts";
import { readServers, serversPath, urlOfServer, userOf, writeServers } from "./service-url.ts";
import { type Column, renderTable } from "./table.ts";

interface ServerRow {
  readonly name: string;
  readonly url: string;
  readonly user: string | undefined;
  readonly isCurrent: boolean;
}

const COLUMNS: readonly Column<ServerRow>[] = [
  { title: "NAME", cell: (row) => row.name },
  { title: "URL", cell: (row) => row.url },
  { title: "USER", cell: (row) => row.user },
  { title: "CURRENT", cell: (row) => row.isCurrent, styles: { yes: "green" } },
];

export const serversCommand: Command = {
  name: "servers",
  operands: "[use|remove NAME]",
  summary: "List the stored servers, make one current, or remove one.",
  flags: [{ name: "no-headers", help: "Leave out the titles of the table." }],
  notes: `
  gazetteer servers
  gazetteer servers use lab
  gazetteer servers remove lab`,
  async run(args, context) {
    const [action, name, ...extra] = args.positionals;
    const path = serversPath(context.env);
    const stored = await readServers(path);
    if (action === undefined) {
      const rows = Object.entries(stored.servers).map(([server, { url, credentials }]) => ({
        name: server,
        url,
        user: credentials === undefined ? undefined : userOf(credentials),
        isCurrent: server === stored.current,
      }));
      await context.out(
        renderTable(rows, COLUMNS, { colour: wantsColour(context), headers: !args.has("no-headers") }),
      );
      return EXIT_STATUS.ok;
    }
    if ((action !== "use" && action !== "remove") || name === undefined || extra.length > 0) {
      throw usageFailure("wants nothing, use NAME, or remove NAME");
    }
    urlOfServer(stored, name); // throws if there is no server with the name
    if (action === "use") await writeServers(path, { ...stored, current: name });
    else {
      const { [name]: _removed, ...servers } = stored.servers;
      const { current } = stored;
      await writeServers(
        path,
        current === undefined || current === name ? { servers } : { current, servers },
      );
    }
    await context.out(action === "use" ? `${name} is the current server\n` : `${name} is removed\n`);
    return EXIT_STATUS.ok;
  },
};
