/**
 * The OpenAPI 3.1 document, generated from the schemas and the tables of formats, parameters and problems, so that it
 * cannot differ from the code. `openapi.json` in the repository is its golden copy, so that every change of the interface
 * is visible as a change of that file.
 */

import { TAGS } from "../endpoints/endpoint.ts";
import { ENDPOINTS } from "../endpoints/endpoints.ts";
import { SERVICE_ENDPOINTS } from "../endpoints/service-endpoints.ts";
import { type Json, renderComponents } from "./components.ts";
import { FORMAT_SCHEMAS } from "./example-network.ts";
import { endpointPath, READ_HEADERS, servicePath } from "./operations.ts";
import { parameterSchemas, sharedParameters } from "./parameters.ts";
import { HEADERS, headerRefs, PROBLEM_RESPONSES, PROBLEM_SCHEMA } from "./parts.ts";

export interface OpenapiOptions {
  readonly version: string;
  /** The largest `limit` that this service accepts. */
  readonly pageLimit: number;
}

const DESCRIPTION = `The read service over a network controller's view of the network. \
The interface reference, at /docs and in docs/interface.md, explains it.

Every path has three methods. \`GET\` is described here. \`HEAD\` has the parameters, statuses and headers of \`GET\`, \
and no body. \`OPTIONS\` needs no credentials and is a 204 with \`Allow: GET, HEAD, OPTIONS\`, which is also the response \
to a CORS preflight; on a path that does not exist it is a 404. Any other method is a 405 with \`Allow\`; any other path \
a 404. Problems are \`application/problem+json\`.

Parameters have defaults in their descriptions only: a parameter that is not needed is not sent.`;

const READ_PATHS: Json = Object.fromEntries(
  ENDPOINTS.map((endpoint) => [`/controller/v1${endpoint.path}`, endpointPath(endpoint)]),
);

const SERVICE_PATHS: Json = Object.fromEntries(
  SERVICE_ENDPOINTS.flatMap(({ path, access, openapi }) =>
    openapi ? [[path, servicePath(path, access, openapi)]] : [],
  ),
);

const SCHEMAS = [
  ...ENDPOINTS.flatMap((endpoint) => [
    ...endpoint.variants.map(({ schema }) => schema),
    ...parameterSchemas(endpoint),
  ]),
  ...FORMAT_SCHEMAS.values(),
  ...SERVICE_ENDPOINTS.flatMap(({ openapi }) => (openapi ? [openapi.schema] : [])),
  PROBLEM_SCHEMA,
];

export function openapiDocument({ version, pageLimit }: OpenapiOptions): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Gazetteer",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [
      {
        url: "http://{host}:{port}",
        description: "A service at its default port.",
        variables: {
          host: { default: "127.0.0.1", description: "The host that the service runs on." },
          port: { default: "8181", description: "The port that it listens on." },
        },
      },
      { url: "/", description: "The service that this document was read from." },
    ],
    security: [{ basic: [] }, { bearer: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: { ...READ_PATHS, ...SERVICE_PATHS },
    components: {
      securitySchemes: {
        basic: { type: "http", scheme: "basic", description: "RFC 7617, in UTF-8." },
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "RFC 6750: a token of `gazetteer token add`.",
        },
      },
      headers: HEADERS,
      parameters: sharedParameters(ENDPOINTS, pageLimit),
      responses: {
        NotModified: {
          description: "The representation still has an entity tag of If-None-Match.",
          headers: headerRefs(READ_HEADERS),
        },
        ...PROBLEM_RESPONSES,
      },
      schemas: renderComponents(SCHEMAS),
    },
  };
}

export const openapiText = (options: OpenapiOptions): string =>
  `${JSON.stringify(openapiDocument(options), null, 2)}\n`;
