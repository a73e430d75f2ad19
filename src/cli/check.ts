/**
 * `gazetteer check`: whether the service would start with this configuration. It lists all faults of the file, the
 * environment, the flags, the sources, the users and the certificate, one on each line. A port or folder that is in use at
 * the moment, or a reference to an unknown device, is only a note.
 */
import { type Command, EXIT_STATUS, usageFailure } from "./command.ts";
import { CONFIG_FLAGS, CONFIG_NOTE } from "./config-flags.ts";

export const checkCommand: Command = {
  name: "check",
  operands: "[CONFIGFILE] [FLAGS]",
  summary: "Check a configuration without starting anything.",
  flags: [
    {
      name: "show",
      help: "Print the effective configuration with the origin of each value; secrets are hidden.",
    },
    ...CONFIG_FLAGS,
  ],
  notes: `
${CONFIG_NOTE}

  gazetteer check /etc/gazetteer.yaml
  gazetteer check --show --config /etc/gazetteer.yaml --port 8080`,
  async run(args, context) {
    const [path = args.one("config"), ...extra] = args.positionals;
    if (extra.length > 0 || (args.positionals.length > 0 && args.has("config"))) {
      throw usageFailure("wants one CONFIGFILE");
    }
    // The modules are imported here, so that commands without a configuration do not load their libraries.
    const { loadConfig } = await import("../config/config.ts");
    const { renderSettings } = await import("../config/show.ts");
    const { checkConfiguration, findNotes } = await import("../service/preflight.ts");
    const loaded = loadConfig({ file: path, flags: args, environment: context.env });
    const { faults, ...checked } = await checkConfiguration(loaded, context.env.GAZETTEER_CREDENTIALS);
    const notes = [
      ...checked.warnings.map((warning) => `warning: ${warning}`),
      ...[...checked.notes, ...(loaded.ok ? findNotes(loaded.config) : [])].map((note) => `note: ${note}`),
    ];
    await context.err([...faults, ...notes].map((line) => `${line}\n`).join(""));
    if (args.has("show")) await context.out(renderSettings(loaded.settings) + credentialsLine(context.env));
    else if (faults.length === 0) await context.out(`${path ?? "the configuration"}: ok\n`);
    return faults.length === 0 ? EXIT_STATUS.ok : EXIT_STATUS.usage;
  },
};

/** The credentials are not a key of the configuration, but the output must show where each user comes from. */
function credentialsLine(env: Readonly<Record<string, string | undefined>>): string {
  const [name, password] = env.GAZETTEER_CREDENTIALS?.split(":") ?? [];
  // Without a colon the text is not a name, and may be a secret.
  return name && password !== undefined
    ? `# user ${JSON.stringify(name)}, password hidden: GAZETTEER_CREDENTIALS\n`
    : "";
}
