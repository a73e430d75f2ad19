/** `gazetteer serve`: runs the service. Only this command imports the service and its libraries. */
import { systemClock } from "../lib/clock.ts";
import { openServiceManager } from "../lib/service-manager.ts";
import { type Command, EXIT_STATUS } from "./command.ts";
import { CONFIG_FLAGS, CONFIG_NOTE } from "./config-flags.ts";
import { catchServiceSignals } from "./signals.ts";
import { renderStartupBanner, storePassword } from "./startup-banner.ts";

const OPENFLOW_NOTE =
  "gazetteer serve: --openflow programs the switches that connect to forward between hosts; " +
  "beside another controller use a configuration file with forwarding: none\n";

export const serveCommand: Command = {
  name: "serve",
  operands: "[FLAGS]",
  summary: "Run the service.",
  flags: CONFIG_FLAGS,
  notes: `
GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' in the environment is a user. Without it and without a users file, the
first start creates a user, and shows the password once on a terminal, or else writes it to a file that only you can read.

${CONFIG_NOTE}

  gazetteer serve --demo
  gazetteer serve --openflow 6653
  gazetteer serve --file network.yaml --alias onos --port 8181
  gazetteer serve --config /etc/gazetteer.yaml`,
  async run(args, context) {
    const { loadServeConfig, requireConfig } = await import("./serve-config.ts");
    const load = () => loadServeConfig(args, context);
    const { config, warnings } = requireConfig(load());
    for (const warning of warnings) await context.err(`gazetteer serve: warning: ${warning}\n`);
    if (args.has("openflow")) await context.err(OPENFLOW_NOTE);
    const { runService } = await import("../service/service.ts");
    const { storedLogBytes } = await import("../service/data-folder.ts");
    // Not disposed: npm delivers a Ctrl-C a second time, which must not kill a service that is about to end.
    const signals = catchServiceSignals(() => context.exit(EXIT_STATUS.failed));
    const manager = await openServiceManager(context.env, systemClock);
    manager.starting(storedLogBytes(config));
    signals.signal.addEventListener("abort", () => manager.stopping());
    await runService(config, {
      credentials: context.env.GAZETTEER_CREDENTIALS,
      signal: signals.signal,
      onListening: async (facts) => {
        const passwordFile = context.terminal ? undefined : await storePassword(facts.users);
        await context.out(renderStartupBanner(facts, passwordFile));
        manager.ready(facts.summary);
      },
      reload: { load, onRequest: signals.onReload },
    });
    return EXIT_STATUS.ok;
  },
};
