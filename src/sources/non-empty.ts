/** Returns the texts that are neither undefined nor empty: a claim leaves out what its source does not know. */
export function nonEmpty<K extends string>(
  texts: Readonly<Record<K, string | undefined>>,
): { [key in K]?: string } {
  const present: { [key in K]?: string } = {};
  for (const key in texts) {
    const text = texts[key];
    if (text) present[key] = text;
  }
  return present;
}
