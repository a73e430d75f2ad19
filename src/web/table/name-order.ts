/**
 * The order of rows by the device at an end. The service orders by the id of the device, then by port; the table shows the
 * name of the device, so that a list of moderate length is put in the order of names. The rows of one device stay in the
 * order of the service.
 */
import type { NetworkEntity } from "../network.ts";

/** A longer list stays in the order of the service: sorting it would block the page. */
const MAX_ROWS = 20_000;

/** Names by device id. */
export type DeviceNames = (device: string) => string;

export function orderByDeviceName(
  list: readonly NetworkEntity[],
  sort: string,
  nameOf: DeviceNames,
): readonly NetworkEntity[] {
  const field = sort.replace(/^-/, "");
  if (list.length > MAX_ROWS || !["src", "dst", "location"].includes(field)) return list;
  const direction = sort.startsWith("-") ? -1 : 1;
  const keyed = list.map((entity) => ({ entity, name: nameOf(deviceAt(entity, field)) }));
  keyed.sort((p, q) => (p.name === q.name ? 0 : p.name < q.name ? -direction : direction));
  return keyed.map(({ entity }) => entity);
}

function deviceAt({ resource, value }: NetworkEntity, field: string): string {
  if (resource === "links") return field === "src" ? value.src.device : value.dst.device;
  return resource === "hosts" ? value.location.elementId : value.id;
}
