/** `gazetteer problems`: the problems of the network, worst first; with `--watch`, again whenever the list changes. */
import type { NetworkProblem } from "../model/network-problem.ts";
import {
  AT_FLAG,
  createClientCommand,
  createConnectionReporter,
  OUTPUT_FLAG,
  runUntilStopped,
  wantsColour,
  wantsJson,
  withAt,
} from "./client-command.ts";
import { EXIT_STATUS, usageFailure } from "./command.ts";
import { parseQuery } from "./operands.ts";
import { type Column, createStyler, renderJson, renderTable } from "./table.ts";

const COLUMNS: readonly Column<NetworkProblem>[] = [
  {
    title: "SEVERITY",
    cell: ({ severity }) => severity,
    styles: { critical: "red", major: "yellow", minor: "yellow" },
  },
  { title: "KIND", cell: ({ kind }) => kind },
  { title: "SINCE", cell: ({ since }) => since },
  { title: "DEVICES CUT OFF", cell: ({ cutOff }) => cutOff.deviceCount },
  { title: "HOSTS CUT OFF", cell: ({ cutOff }) => cutOff.hostCount },
  { title: "CONSEQUENCES", cell: ({ consequences }) => consequences },
  { title: "CAUSED BY", cell: ({ causedBy }) => causedBy },
  { title: "PROBLEM", cell: ({ text }) => text, maxWidth: 400 },
];

export const problemsCommand = createClientCommand({
  name: "problems",
  operands: "[NAME=VALUE...]",
  summary: "Show what is wrong with the network, worst first.",
  flags: [
    AT_FLAG,
    { name: "watch", short: "w", help: "Show the list again whenever it changes, until Ctrl-C." },
    OUTPUT_FLAG,
  ],
  notes: `
NAME=VALUE are filters: kind, severity, resource, device, source, causedBy, q.
causedBy= (empty) leaves out what follows from another problem of the list.

  gazetteer problems
  gazetteer problems causedBy=
  gazetteer problems severity=critical,major
  gazetteer problems kind=link-lost --at 2h
  gazetteer problems device=of:0000000000000001 -o json
  gazetteer problems --watch`,
  async read(client, args, context) {
    const query = withAt(parseQuery(args.positionals), args);
    const json = wantsJson(args);
    const colour = wantsColour(context);
    if (args.has("watch")) {
      if (query.at !== undefined) throw usageFailure("--watch and --at cannot be combined");
      await runUntilStopped(context, async (signal) => {
        const onState = createConnectionReporter(context, "problems");
        for await (const list of client.watchProblems(query, { signal, onState }))
          await context.out(json ? renderJson(list) : renderWatched(list.problems, list.revision, colour));
      });
      return EXIT_STATUS.ok;
    }
    const result = await client.problems(query);
    await context.out(json ? renderJson(result) : renderText(result.problems, colour));
    return EXIT_STATUS.ok;
  },
});

const renderText = (problems: readonly NetworkProblem[], colour: boolean): string =>
  problems.length === 0 ? "no problems\n" : renderTable(problems, COLUMNS, { colour });

const renderWatched = (problems: readonly NetworkProblem[], revision: number, colour: boolean): string => {
  const title = createStyler(colour)(`revision ${revision}, ${new Date().toISOString()}`, "bold");
  return `${title}\n${renderText(problems, colour)}\n`;
};
