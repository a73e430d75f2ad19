/**
 * Folds the two directions of a cable. A link is directed, so a cable that works both ways is two link records that are
 * each other's reverse. The topology formats and the page draw one line for them; only this file decides which records
 * belong together and what the line shows. It imports nothing of the server, so that the page can import it.
 */
import { hasConflict } from "./conflict.ts";
import type { Link } from "./entity.ts";
import { type ConnectPoint, linkId } from "./ids.ts";

export interface Cable {
  /** The lower of the two link ids; it is the same for both directions. */
  readonly id: string;
  /** The ends of the direction that works, where only one does; otherwise those of the link with the lower id. */
  readonly from: ConnectPoint;
  readonly to: ConnectPoint;
  /** The one known record, or both in order of id. */
  readonly links: readonly [Link] | readonly [Link, Link];
  /** Whether at least one direction is ACTIVE. */
  readonly active: boolean;
  /** Whether the other direction is not known, or exactly one of the two is ACTIVE. */
  readonly oneWay: boolean;
  /** Whether every record is verified. */
  readonly verified: boolean;
  readonly conflict: boolean;
}

type LinkEnds = Pick<Link, "src" | "dst">;

export const reverseLinkId = ({ src, dst }: LinkEnds): string => linkId(dst, src);

export function cableId(link: LinkEnds): string {
  const id = linkId(link.src, link.dst);
  const reverseId = reverseLinkId(link);
  return id < reverseId ? id : reverseId;
}

/** The cable of a link and of the link in the other direction, where that is known. The two may be given in either order. */
export function cableOf(link: Link, reverse: Link | undefined): Cable {
  const links = inOrder(link, reverse);
  const active = links.filter(({ state }) => state === "ACTIVE");
  const shown = (active.length === 1 ? active[0] : undefined) ?? links[0];
  return {
    id: cableId(link),
    from: shown.src,
    to: shown.dst,
    links,
    active: active.length > 0,
    oneWay: links.length === 1 || active.length === 1,
    verified: links.every(({ verified }) => verified),
    conflict: links.some(hasConflict),
  };
}

function inOrder(link: Link, reverse: Link | undefined): Cable["links"] {
  if (!reverse) return [link];
  return link.id < reverse.id ? [link, reverse] : [reverse, link];
}
