/** Entity tags in conditions (RFC 9110, 13.1.2). */

/** `ifNoneMatch` is `*` or a list of tags, which are compared weakly. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split(",").some((part) => {
    const tag = part.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}
