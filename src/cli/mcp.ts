/**
 * `gazetteer mcp`: the reads of a service for an assistant that starts programs and speaks the Model Context Protocol to them on
 * their standard input and output. `mcp-server.ts` is the protocol, `mcp-tools.ts` has the tools.
 */
import { VERSION } from "../lib/version.ts";
import { createClientCommand, withClient } from "./client-command.ts";
import { EXIT_STATUS, usageFailure } from "./command.ts";

export const mcpCommand = createClientCommand({
  name: "mcp",
  operands: "",
  summary: "Serve the reads of a service to an assistant, by the Model Context Protocol.",
  flags: [],
  notes: `
Assistants start this program and speak to it on its standard input and output. Its tools read devices, ports, links, hosts,
problems, paths, explanations and differences between two times; nothing can be changed. In the configuration of the assistant:

  {"mcpServers": {"network": {"command": "gazetteer", "args": ["mcp", "--server", "lab"]}}}`,
  async read(_client, args, context) {
    if (args.positionals.length > 0) throw usageFailure("wants no operands");
    if (context.stdin.isTerminal)
      await context.err(
        "gazetteer mcp: waits for messages of an assistant on standard input; Ctrl-C ends it\n",
      );
    const { serveMcp } = await import("./mcp-server.ts");
    const { createTools, INSTRUCTIONS } = await import("./mcp-tools.ts");
    // Each call resolves the service again, so that a new password or token of `gazetteer login` counts without a restart.
    const tools = createTools((use) => withClient(args, context, use));
    await serveMcp(context, { version: VERSION, instructions: INSTRUCTIONS, tools });
    return EXIT_STATUS.ok;
  },
});
