/**
 * The device ids of nodes. A node keeps the id of the file where that is a valid id which no other node has in any case,
 * because users know and store it. Any other id is changed as little as possible, and that is noted.
 */
import { CLAIM_LIMITS, canonicalClaim } from "../model/claim.ts";
import { deviceKey } from "../model/ids.ts";
import type { GraphNode, Note } from "./import-graph.ts";

/** Room for a number at the end. */
const MAX_CHANGED_LENGTH = CLAIM_LIMITS.id - 16;

const isValidId = (id: string): boolean => canonicalClaim("devices", { id }).ok;

/** The id of each node by its id in the file. Of two nodes with the same id in the file, the first stands. */
export function assignNodeIds(nodes: readonly GraphNode[], notes: Note[]): Map<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const isFree = (id: string) => !taken.has(deviceKey(id));
  const assign = (node: GraphNode, id: string) => {
    ids.set(node.id, id);
    taken.add(deviceKey(id));
  };
  const others: GraphNode[] = [];
  const seen = new Set<string>();
  for (const node of nodes) {
    if (seen.has(node.id)) continue;
    seen.add(node.id);
    if (isValidId(node.id) && isFree(node.id)) assign(node, node.id);
    else others.push(node);
  }
  for (const node of others) {
    const base =
      node.id
        .toWellFormed()
        .replaceAll(/[\s\p{Cc}\p{Bidi_Control}]/gu, "_")
        .slice(0, MAX_CHANGED_LENGTH)
        .toWellFormed() || "node";
    let id = base;
    for (let n = 2; !isFree(id); n++) id = `${base}~${n}`;
    assign(node, id);
    const reason = isValidId(node.id)
      ? "another node has the same id in another case"
      : "an id has 1 to 255 characters, none of them a space, a control character or a mark of the text direction";
    notes.push({ at: node.at, message: `the node ${JSON.stringify(node.id)} gets the id ${id}: ${reason}` });
  }
  return ids;
}
