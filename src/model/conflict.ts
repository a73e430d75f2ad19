/**
 * Detects conflicting claims on an entity. This function is not in entity.ts because the page needs it, and importing a
 * value from there would add the schema library to the page.
 */

/** Whether the entity has the annotation `conflict`, which the view sets on an entity that contradicts another one. */
export const hasConflict = (entity: { readonly annotations?: Readonly<Record<string, string>> }): boolean =>
  (entity.annotations?.conflict ?? "") !== "";
