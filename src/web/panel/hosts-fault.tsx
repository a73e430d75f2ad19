/** Why hosts that something opened are not there: the service refused them, as of a moment that it no longer has. */
import type { HostGroup } from "../data/hosts.ts";
import { useNetwork } from "../data/page-store.ts";

export function HostsFault({ group }: { readonly group: HostGroup }) {
  const fault = useNetwork()?.openedHosts.faultOf(group.key);
  return fault === undefined ? null : <p class="note bad">{`Hosts are not shown: ${fault}`}</p>;
}
