/** `gazetteer get`: prints one read of the interface, and with `--watch` its changes, for people or for programs. */
import type { Client } from "../client/client.ts";
import { FORMATS } from "../formats/formats.ts";
import { canonicalHostId } from "../model/address.ts";
import { AT_FLAG, createClientCommand, wantsColour, withAt } from "./client-command.ts";
import { type Arguments, EXIT_STATUS, type Flag, usageFailure } from "./command.ts";
import { LOCAL_OUTPUTS, type OutputOptions, printRead } from "./get-output.ts";
import { WATCH_OUTPUTS, watchRead } from "./get-watch.ts";
import { parseReadTarget, RESOURCES, type ReadTarget, resolveHost } from "./operands.ts";

const SERVICE_FORMATS = FORMATS.filter((format) => !format.stream);

const GET_FLAGS: readonly Flag[] = [
  {
    name: "output",
    short: "o",
    value: "FORMAT",
    choices: [...Object.keys(LOCAL_OUTPUTS), ...SERVICE_FORMATS.map((format) => format.name)],
    help: "One of the formats below. Default table",
  },
  AT_FLAG,
  { name: "watch", short: "w", help: "After the read, show every change, until Ctrl-C." },
  { name: "no-headers", help: "Leave out the titles of a table or of CSV." },
];

export const getCommand = createClientCommand({
  name: "get",
  operands: "devices|links|hosts|topology [ID...] [NAME=VALUE...]",
  summary: "Read from a running service.",
  flags: GET_FLAGS,
  notes: `
ID is the id or name of a device, the id, name or IP address of a host, or the id of a link. NAME=VALUE are query parameters. All pages of a list are fetched; limit=N sets the page size.

  gazetteer get devices available=false type=SWITCH,ROUTER
  gazetteer get devices of:0000000000000001 -o yaml
  gazetteer get devices leaf-1 ports
  gazetteer get hosts 10.0.0.7
  gazetteer get hosts ip=10.0.0.0/16 -o name
  gazetteer get topology clusters 0 devices
  gazetteer get devices type=SWITCH -o ansible > inventory.yaml
  gazetteer get links --watch
  gazetteer get devices drift=any
  gazetteer get devices available=false --at 2h

Formats:
${renderFormatHelp()}`,
  async read(client, args, context) {
    const named = parseReadTarget(args.positionals);
    const target = { ...named, query: withAt(named.query, args) };
    if (args.has("watch") && target.query.at !== undefined)
      throw usageFailure("--watch and --at cannot be combined");
    const output = parseOutput(args, target);
    if (output === "ansible" && target.query.fields !== undefined)
      throw usageFailure("-o ansible and fields= cannot be combined");
    const options: OutputOptions = {
      output,
      colour: wantsColour(context),
      headers: !args.has("no-headers"),
    };
    const read = args.has("watch") ? watchRead : printRead;
    await read(client, await withHostId(client, target), options, context);
    return EXIT_STATUS.ok;
  },
});

/** Replaces the name or IP address of a host by its id. */
async function withHostId(client: Client, target: ReadTarget): Promise<ReadTarget> {
  const { resource, id, query } = target;
  if (resource !== "hosts" || id === undefined || canonicalHostId(id) !== undefined) return target;
  const host = await resolveHost(client, id, query);
  return host === undefined ? target : { ...target, id: host, path: `hosts/${encodeURIComponent(host)}` };
}

function renderFormatHelp(): string {
  const local = Object.entries(LOCAL_OUTPUTS).map(([name, description]) => [name, description] as const);
  const remote = SERVICE_FORMATS.map(({ name, description, resources }) => {
    const readable = RESOURCES.filter((resource) => resources.includes(resource));
    return [name, `${description} (${readable.join(", ")})`] as const;
  });
  return [...local, ...remote].map(([name, text]) => `  ${name.padEnd(10)}  ${text}`).join("\n");
}

/** Whether the body is a list of devices or one device. */
const isDevices = ({ resource, path, id }: ReadTarget): boolean =>
  resource === "devices" && (path === resource || id !== undefined);

function parseOutput(args: Arguments, target: ReadTarget): string {
  const output = args.one("output") ?? "table";
  const unavailable: readonly string[] = [
    ...(target.path === "topology" ? ["name"] : []),
    ...(isDevices(target) ? [] : ["ansible"]),
  ];
  const local = Object.keys(LOCAL_OUTPUTS).filter((name) => !unavailable.includes(name));
  const known = [...local, ...target.formats].filter(
    (name) => !args.has("watch") || WATCH_OUTPUTS.includes(name),
  );
  if (known.includes(output)) return output;
  const what = `${target.id === undefined ? target.path : `one of ${target.resource}`}`;
  const watching = args.has("watch") ? " with --watch" : "";
  throw usageFailure(`-o ${output}: of ${what}${watching} there is ${known.join(", ")}`);
}
