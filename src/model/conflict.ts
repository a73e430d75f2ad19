/**
 * The sign of conflicting claims on an entity. It is apart from the schemas of entity.ts because the page needs it, and
 * a value imported from there would add the schema library to the page.
 */

/** The view sets this annotation on an entity that contradicts another one. */
export const hasConflict = (entity: { readonly annotations?: Readonly<Record<string, string>> }): boolean =>
  (entity.annotations?.conflict ?? "") !== "";
