/** Entity tags in conditions (RFC 9110, 13.1.2). */

/** `ifNoneMatch` is `*` or a list of tags. Tags are compared weakly: strong or weak makes no difference. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  const opaque = opaqueTag(etag);
  return ifNoneMatch.split(",").some((part) => {
    const tag = part.trim();
    return tag === "*" || opaqueTag(tag) === opaque;
  });
}

const opaqueTag = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);
