/** placeholder */
export const openapiText = (version: string): string =>
  JSON.stringify({ openapi: "3.1.0", info: { title: "Gazetteer", version } });
