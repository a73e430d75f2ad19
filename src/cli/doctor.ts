/**
 * `gazetteer doctor`: one line for each check of an installation: ok, warn or fail, what was found and what to do. It needs no
 * running service; where one runs and credentials for it are known, it also shows what only the service knows.
 */

import { isIPv6 } from "node:net";
import { createClient } from "../client/client.ts";
import type { Config } from "../config/schema.ts";
import { parseToken } from "../lib/access-token.ts";
import type { DoctorFinding, ServiceProbe } from "../service/diagnosis.ts";
import { OUTPUT_FLAG, SERVICE_FLAGS, wantsColour, wantsJson } from "./client-command.ts";
import { type Arguments, type Command, type Context, EXIT_STATUS, usageFailure } from "./command.ts";
import { CONFIG_FLAGS, CONFIG_NOTE } from "./config-flags.ts";
import {
  createTlsFetch,
  readServers,
  resolveServiceAddress,
  serversPath,
  tlsFilesOf,
} from "./service-url.ts";
import { createStyler, escapeControlCharacters, renderJson, type TextStyle } from "./table.ts";

const PROBE_TIMEOUT_MS = 3000;
const STYLES: Readonly<Record<DoctorFinding["status"], TextStyle>> = {
  ok: "green",
  warn: "yellow",
  fail: "red",
};
const CHECK_WIDTH = 14;

export const doctorCommand: Command = {
  name: "doctor",
  operands: "[CONFIGFILE] [FLAGS]",
  summary: "Find what is wrong with an installation, and what to do.",
  flags: [OUTPUT_FLAG, ...SERVICE_FLAGS, ...CONFIG_FLAGS],
  notes: `
Checks the configuration and the files that it names, the version, the port, the data folder and its permissions, the disk,
the clock, the certificate, the users, the sources and the cluster. One line each: ok, warn or fail. The exit status is 1 if
there is a fail. It changes nothing. Run it as the user of the service, on its machine.

The state of the sources is that of the running service if it accepts the credentials of gazetteer get; otherwise only their
addresses are tried.

${CONFIG_NOTE}

  gazetteer doctor /etc/gazetteer/gazetteer.yaml
  gazetteer doctor --config /etc/gazetteer/gazetteer.yaml -o json`,
  async run(args, context) {
    const [file = args.one("config"), ...extra] = args.positionals;
    if (extra.length > 0 || (args.positionals.length > 0 && args.has("config")))
      throw usageFailure("wants one CONFIGFILE");
    const isJson = wantsJson(args);
    const findings: DoctorFinding[] = [];
    for await (const finding of runChecks(file, args, context)) {
      findings.push(finding);
      if (!isJson) await context.out(renderLine(finding, wantsColour(context)));
    }
    if (isJson) await context.out(renderJson(findings));
    return findings.some(({ status }) => status === "fail") ? EXIT_STATUS.failed : EXIT_STATUS.ok;
  },
};

async function* runChecks(
  file: string | undefined,
  args: Arguments,
  context: Context,
): AsyncGenerator<DoctorFinding> {
  const { loadConfig } = await import("../config/config.ts");
  const { checkConfiguration } = await import("../service/preflight.ts");
  const { diagnose } = await import("../service/diagnosis.ts");
  const check = "configuration";
  const loaded = loadConfig({ file, flags: args, environment: context.env });
  const { GAZETTEER_CREDENTIALS: credentials = "" } = context.env;
  // A token is that of this command, and not the user of a service.
  const { faults, warnings } = await checkConfiguration(
    loaded,
    parseToken(credentials) ? undefined : credentials,
  );
  for (const text of faults) yield { check, status: "fail", text };
  for (const text of warnings) yield { check, status: "warn", text };
  if (faults.length + warnings.length === 0) yield { check, status: "ok", text: file ?? "the defaults" };
  if (loaded.ok) yield* diagnose(loaded.config, await probeService(loaded.config, args, context));
}

/** Reads the state of the service. Credentials are sent only to the address that they belong to. */
async function probeService(config: Config, args: Arguments, { env }: Context): Promise<ServiceProbe> {
  const url = args.one("url") ?? (args.has("server") ? undefined : addressOf(config));
  const flags = { url, server: args.one("server"), tlsFiles: tlsFilesOf(args) };
  const target = await resolveServiceAddress(flags, env, () => readServers(serversPath(env)));
  const { origin } = target.url;
  try {
    // This request has no credentials, so the certificate need not be the right one for this address.
    const response = await fetch(`${origin}/healthz`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      tls: { rejectUnauthorized: false },
    });
    const { status } = await response.json();
    if (status !== "alive") throw new Error("that is not a Gazetteer");
  } catch {
    return { url: origin, isAlive: false, readiness: undefined };
  }
  try {
    const client = createClient({ ...target, fetch: await createTlsFetch(target.tlsFiles) });
    const readiness = await client.ready({ signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    // Without valid credentials there are no details.
    return { url: origin, isAlive: true, readiness: readiness.version === undefined ? undefined : readiness };
  } catch {
    return { url: origin, isAlive: true, readiness: undefined };
  }
}

function addressOf({ host, port, tls }: Config): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${tls.cert === undefined ? "http" : "https"}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

function renderLine({ check, status, text, fix }: DoctorFinding, colour: boolean): string {
  const line = `${check.padEnd(CHECK_WIDTH)}  ${text}${fix === undefined ? "" : `; ${fix}`}`;
  return `${createStyler(colour)(status.padEnd(4), STYLES[status])}  ${escapeControlCharacters(line)}\n`;
}
