/**
 * Finds the entity that an operand names if it is neither an id nor the name of a device, which the service resolves
 * itself: a host by its name or one of its IP addresses, or a device by its management address.
 */
import type { Client } from "../client/client.ts";
import type { CollectionName, Query } from "../client/types.ts";
import { canonicalIp } from "../model/address.ts";
import { CommandFailure } from "./command.ts";

/** The maximum number of ids in the message about an ambiguous operand. */
const MAX_CANDIDATES = 10;

/** The id of the only host with this name or address; undefined if there is none. Several are a CommandFailure. */
export async function resolveHost(client: Client, text: string, { at }: Query): Promise<string | undefined> {
  const ip = canonicalIp(text.trim());
  // An unescaped comma would separate two names.
  const filter = ip === undefined ? { name: text.trim().replaceAll(",", "\\,") } : { ip };
  return onlyMatch(client, "hosts", { ...filter, at }, text);
}

/** The id of the only host with this name or address, or else of the only device with this management address. */
export async function resolveHostOrDevice(
  client: Client,
  text: string,
  query: Query,
): Promise<string | undefined> {
  const host = await resolveHost(client, text, query);
  const ip = canonicalIp(text.trim());
  if (host !== undefined || ip === undefined) return host;
  return onlyMatch(client, "devices", { "annotations.managementAddress": ip, at: query.at }, text);
}

async function onlyMatch(
  client: Client,
  kind: CollectionName,
  query: Query,
  text: string,
): Promise<string | undefined> {
  const { items } = await client.list(kind, { ...query, limit: MAX_CANDIDATES + 1 });
  const ids = items.map(({ id }) => id);
  if (ids.length < 2) return ids[0];
  const more = ids.length > MAX_CANDIDATES ? " and more" : "";
  throw new CommandFailure(
    `several ${kind} are called ${JSON.stringify(text)}: ${ids.slice(0, MAX_CANDIDATES).join(", ")}${more}; give an id`,
  );
}
