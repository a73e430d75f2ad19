/**
 * The OpenAPI 3.1 document, generated from the schemas and the tables of formats, parameters and problems, so that it
 * cannot differ from the code. `openapi.json` in the repository is its golden copy: every change of the interface is a
 * visible change of that file.
 */
import { Cluster, Device, Host, Link, Port, Topology } from "../model/entity.ts";
import { HEADER_PARAMETERS, HEADERS, headerRefs, type Json, PROBLEM_RESPONSES } from "./openapi-parts.ts";
import { PATHS, READ_HEADERS } from "./openapi-paths.ts";
import { CHANGE_SCHEMAS, PROBLEM_SCHEMA, READY_SCHEMA } from "./openapi-schemas.ts";

export function openapiDocument(version: string): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Gazetteer",
      version,
      description:
        "The read service over a network controller's view of the network. docs/interface.md explains it. " +
        "Any other method on these paths is a 405 (Problem405); any other path a 404 (Problem404).",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ basic: [] }],
    paths: PATHS,
    components: {
      securitySchemes: { basic: { type: "http", scheme: "basic" } },
      headers: HEADERS,
      parameters: HEADER_PARAMETERS,
      responses: {
        Options: {
          description: "The supported methods.",
          headers: headerRefs([
            "Allow",
            "X-Content-Type-Options",
            "Vary",
            "Access-Control-Allow-Origin",
            "Access-Control-Expose-Headers",
            "Access-Control-Allow-Methods",
            "Access-Control-Allow-Headers",
          ]),
        },
        NotModified: {
          description: "The representation still has an entity tag of If-None-Match.",
          headers: headerRefs(READ_HEADERS),
        },
        ...PROBLEM_RESPONSES,
      },
      schemas: {
        ...withoutIds({ Device, Port, Link, Host, Topology, Cluster }),
        ...CHANGE_SCHEMAS,
        Problem: PROBLEM_SCHEMA,
        Ready: READY_SCHEMA,
      },
    },
  };
}

/** References use the place in the document. An `$id` would make a schema the root of its own references. */
function withoutIds(schemas: Readonly<Record<string, object>>): Json {
  const withoutId = (schema: object) =>
    Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$id"));
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutId(schema)]));
}

export const openapiText = (version: string): string =>
  `${JSON.stringify(openapiDocument(version), null, 2)}\n`;
