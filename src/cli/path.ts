/** `gazetteer path`: the shortest paths between two devices or hosts, hop by hop, or why there is none. */
import type { Client, PathExplanation } from "../client/client.ts";
import type { PathLink, PathLinkEnd, Query } from "../client/types.ts";
import type { ExplainedEnd, NoPath, PathObstacle } from "../model/path-explanation.ts";
import { AT_FLAG, createClientCommand, OUTPUT_FLAG, wantsJson, withAt } from "./client-command.ts";
import { countText } from "./cluster-text.ts";
import { EXIT_STATUS, usageFailure } from "./command.ts";
import { NetworkNames } from "./network-names.ts";
import { resolveHostOrDevice } from "./operands.ts";
import { escapeLines } from "./table.ts";

const MAX_PATHS = 32;

export const pathCommand = createClientCommand({
  name: "path",
  operands: "FROM TO",
  summary: "Show the shortest paths between two devices or hosts, or why there is none.",
  flags: [AT_FLAG, OUTPUT_FLAG],
  notes: `
FROM and TO are ids of devices or hosts, their names, or IP addresses. An id goes before a name. At most ${MAX_PATHS} paths are listed. Without a path the exit status is
1, and what is down between the two is listed. -o json prints the explanation: the number of paths, the devices and links
that they use, or why there is none.

  gazetteer path of:0000000000000001 of:0000000000000004
  gazetteer path leaf-1 leaf-4
  gazetteer path 10.0.0.1 10.0.0.2
  gazetteer path 00:00:00:00:00:01/None web-7 --at 2h`,
  async read(client, args, context) {
    const [from, to, ...more] = args.positionals;
    if (!from || !to || more.length > 0) throw usageFailure("wants two ids or names");
    const query = withAt({}, args);
    const json = wantsJson(args);
    const explanation = await explainPaths(client, from, to, query);
    const text = json ? JSON.stringify(explanation) : await render(client, explanation, query);
    await context.out(`${escapeLines(text)}\n`);
    return explanation.count > 0 ? EXIT_STATUS.ok : EXIT_STATUS.failed;
  },
});

/** The service resolves ids and names of devices. An end that it does not know is looked up as a host or an address. */
export async function explainPaths(
  client: Client,
  from: string,
  to: string,
  query: Query,
): Promise<PathExplanation> {
  const explanation = await client.explainPaths(from, to, query);
  if (explanation.none?.reason !== "unknown-end") return explanation;
  const resolve = async (text: string, { resource }: ExplainedEnd) =>
    resource === undefined ? await resolveHostOrDevice(client, text, query) : text;
  const src = await resolve(from, explanation.src);
  const dst = await resolve(to, explanation.dst);
  if (src === undefined && dst === undefined) return explanation;
  return client.explainPaths(src ?? from, dst ?? to, query);
}

async function render(client: Client, explanation: PathExplanation, query: Query): Promise<string> {
  const { src, dst, count, cost, none } = explanation;
  const title = `${src.name ?? src.id} to ${dst.name ?? dst.id}`;
  const names = new NetworkNames(client, query);
  if (none) return [`${title}: no path`, ...(await noPathLines(none, explanation, names))].join("\n");
  const { paths } = await client.paths(src.id, dst.id, { ...query, limit: MAX_PATHS });
  await names.load(paths.flatMap(({ links }) => links.flatMap((link) => [link.src, link.dst])));
  const hosts = new Map([src, dst].map(({ id, name }) => [id, name]));
  const lines = paths.map(({ links }, i) => `${i + 1}  ${pathText(links, names, hosts)}`);
  const rest = count > paths.length ? [`and ${count - paths.length} more`] : [];
  return [`${title}: ${countText(count, "path")}, ${cost} hops`, ...lines, ...rest].join("\n");
}

/** The names of the hosts at the ends of the paths, by id. */
type HostNames = ReadonlyMap<string, string | undefined>;

const endText = (end: PathLinkEnd, names: NetworkNames, hosts: HostNames): string =>
  end.device === undefined ? (hosts.get(end.host ?? "") ?? end.host ?? "") : names.textOf(end);

/** The text of a path, such as `leaf-1/3[eth3] > spine-1/1, spine-1/2 > leaf-2/1`. */
const pathText = (links: readonly PathLink[], names: NetworkNames, hosts: HostNames): string =>
  links.map(({ src, dst }) => `${endText(src, names, hosts)} > ${endText(dst, names, hosts)}`).join(", ");

const REASONS: Readonly<Record<NoPath["reason"], string>> = {
  "unknown-end": "",
  "same-device": "both ends are the same device",
  parted: "",
  "never-joined": "nothing is known that joins them, up or down",
};

async function noPathLines(
  { reason, from, to, needed, obstacles = [], obstacleCount = 0 }: NoPath,
  { src, dst }: PathExplanation,
  names: NetworkNames,
): Promise<string[]> {
  await names.load(obstacles.flatMap((one) => [one.src ?? {}, one.dst ?? {}]));
  const unknown = [src, dst].filter(({ resource }) => resource === undefined);
  const reach = (end: string | undefined, set: NoPath["from"], verb: string) =>
    set ? [`${end} ${verb} ${countText(set.count, "device")}`] : [];
  const rest = obstacleCount > obstacles.length ? [`and ${obstacleCount - obstacles.length} more`] : [];
  return [
    ...(REASONS[reason] === "" ? [] : [REASONS[reason]]),
    ...unknown.map(({ id }) => `${JSON.stringify(id)} is no id, name or address of a device or host`),
    ...reach(src.name ?? src.id, from, "reaches"),
    ...reach(dst.name ?? dst.id, to, "is reached from"),
    ...(needed === undefined ? [] : [`${needed} of these must come back for a path:`]),
    ...obstacles.map((one) => `  ${obstacleText(one, names)}`),
    ...rest,
  ];
}

function obstacleText(
  { resource, id, name, state, since, src, dst }: PathObstacle,
  names: NetworkNames,
): string {
  const subject =
    resource === "devices"
      ? `device ${name ?? id}`
      : `link ${src && dst ? `${names.textOf(src)} > ${names.textOf(dst)}` : id}`;
  return `${subject} ${state}${since === undefined ? "" : ` since ${since}`}`;
}
