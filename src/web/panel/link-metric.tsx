/** The values of the chosen metric on one cable, one for each direction. */
import type { Link } from "../../model/entity.ts";
import { deviceNameById } from "../data/entity-names.ts";
import { formatValue } from "../data/link-overlay.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import { Facts } from "./elements.tsx";

export function LinkMetric({ links }: { readonly links: readonly Link[] }) {
  const overlay = useStore().overlay.value;
  const network = usePlannedNetwork();
  if (!overlay || !network) return null;
  const facts = links.map(({ id, src, dst }): [string, string] => {
    const value = overlay.values.get(id);
    const [from, to] = [src.device, dst.device].map((device) => deviceNameById(network, device));
    return [
      overlay.name,
      `${value === undefined ? "no value" : formatValue(overlay, value)}, ${from} → ${to}`,
    ];
  });
  return <Facts facts={facts} />;
}
