/** Media types that several responses have. */
export const JSON_TYPE = "application/json";
