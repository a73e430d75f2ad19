/** The text of a caught value, which TypeScript types as unknown: its message for an Error, otherwise the value. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
