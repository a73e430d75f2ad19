/** Media types of several responses. */
export const JSON_TYPE = "application/json";
