/**
 * The operations of the OpenAPI document, generated from endpoints. Each path has one operation, GET. HEAD and OPTIONS are
 * the same on every path and described once, in the description of the document.
 */
import type { Endpoint, EndpointText } from "../endpoints/endpoint.ts";
import type { ServiceDocumentation, ServiceEndpoint } from "../endpoints/service-endpoint.ts";
import type { Json } from "./components.ts";
import { FORMAT_EXAMPLES, FORMAT_SCHEMAS } from "./example-network.ts";
import { headerParameterRefs, pathParameter, queryParameters } from "./parameters.ts";
import {
  COMMON_HEADERS,
  type HeaderName,
  headerRefs,
  mediaType,
  type ProblemStatus,
  problemRefs,
} from "./parts.ts";

export const READ_HEADERS: readonly HeaderName[] = [...COMMON_HEADERS, "Gazetteer-Revision", "ETag"];

interface Operation extends EndpointText {
  readonly pathParameters?: readonly string[];
  readonly parameters?: readonly Json[];
  readonly headers: readonly HeaderName[];
  readonly content: Json;
  readonly responses: Json;
  /** Whether the operation needs no credentials. */
  readonly isPublic?: boolean;
}

export function pathItem(operation: Operation): Json {
  const { id, tag, summary, description, content, responses, isPublic } = operation;
  const parameters = [
    ...(operation.pathParameters ?? []).map(pathParameter),
    ...(operation.parameters ?? []),
  ];
  return {
    get: {
      operationId: id,
      tags: [tag],
      summary,
      description,
      ...(isPublic && { security: [] }),
      ...(parameters.length > 0 && { parameters }),
      responses: {
        "200": { description: summary, headers: headerRefs(operation.headers), content },
        ...responses,
      },
    },
  };
}

const NOT_MODIFIED = { "304": { $ref: "#/components/responses/NotModified" } };

/** The names of the path parameters, which are in braces. */
const pathParametersOf = (path: string): string[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);

export function endpointPath(endpoint: Endpoint<unknown>): Json {
  const { variants, parameters, openapi = {} } = endpoint;
  const pathParameters = pathParametersOf(endpoint.path);
  const hasStream = variants.some(({ stream }) => stream !== undefined);
  const mayBeMissing = pathParameters.length > 0 && !openapi.isAlwaysFound;
  return pathItem({
    ...endpoint,
    pathParameters,
    parameters: [
      ...queryParameters(endpoint),
      ...headerParameterRefs("IfNoneMatch", "AcceptEncoding", "MinRevisionHeader"),
      ...(hasStream ? headerParameterRefs("LastEventId") : []),
    ],
    headers: [
      ...READ_HEADERS,
      "Content-Encoding",
      ...(parameters.byName.has("cursor") ? (["Link"] as const) : []),
      ...(hasStream ? (["X-Accel-Buffering"] as const) : []),
      ...(openapi.headers ?? []),
    ],
    content: contentOf(endpoint),
    responses: {
      ...NOT_MODIFIED,
      ...problemRefs(400, 401, 403),
      ...(mayBeMissing && problemRefs(404)),
      ...problemRefs(406, 410, 414, 421, 429, 431, 500, 503),
    },
  });
}

/** The media types of all variants, each with its schema. `application/json` has the schema of the plain variant only. */
function contentOf({ variants, openapi }: Endpoint<unknown>): Json {
  const content: Record<string, Json> = {};
  for (const {
    schema,
    example,
    formats: [json, ...others],
  } of variants) {
    content[json.mediaType] = mediaType(schema, example);
    for (const { name, mediaType: type, stream } of others) {
      const own = stream ? openapi?.streamSchema : undefined;
      const shared = FORMAT_SCHEMAS.get(name);
      if (own) content[type] = mediaType(own);
      else if (shared) content[type] = mediaType(shared, FORMAT_EXAMPLES[name]);
    }
  }
  return content;
}

/** The statuses of problems that every service path with credentials has. */
const SERVICE_PROBLEMS: readonly ProblemStatus[] = [401, 403, 414, 421, 429, 431, 500, 503];

export function servicePath(
  path: string,
  access: ServiceEndpoint["access"],
  documentation: ServiceDocumentation,
): Json {
  const { headers, isFile, problems = [], unavailable, ...text } = documentation;
  const isPublic = access === "public";
  const pathParameters = pathParametersOf(path);
  const content = { [text.mediaType]: mediaType(text.schema, text.example) };
  const notModified = {
    description: "The representation still has an entity tag of If-None-Match.",
    headers: headerRefs(headers),
  };
  return pathItem({
    ...text,
    pathParameters,
    parameters: isFile ? headerParameterRefs("IfNoneMatch", "AcceptEncoding") : [],
    headers,
    content,
    responses: {
      ...(isFile && { "304": notModified }),
      ...(pathParameters.length > 0 && problemRefs(404)),
      ...problemRefs(...(isPublic ? [431 as const] : SERVICE_PROBLEMS), ...problems),
      ...(unavailable !== undefined && {
        "503": { description: unavailable, headers: headerRefs(headers), content },
      }),
    },
    isPublic,
  });
}
