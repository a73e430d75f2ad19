/** How the operations of the OpenAPI document are made: those of collections, of single items, of paths and of files. */
import {
  EXPLANATION_FORMAT,
  formatsOf,
  HITS_FORMAT,
  PATH_EXPLANATION_FORMAT,
  PROBLEMS_FORMAT,
  PROBLEMS_FORMATS,
  type Resource,
} from "../../formats/formats.ts";
import { Topology } from "../../model/entity.ts";
import { Explanation } from "../../model/explanation.ts";
import { PathExplanation } from "../../model/path-explanation.ts";
import { JSON_TYPE } from "../response/media-types.ts";
import type { Json, Schema } from "./components.ts";
import {
  headerParameterRefs,
  parameterRef,
  parameterSchemas,
  pathParameter,
  queryParameters,
} from "./parameters.ts";
import { COMMON_HEADERS, contentOf, type HeaderName, headerRefs, mediaType, problemRefs } from "./parts.ts";
import { Hits, LIST_SCHEMAS, ProblemList } from "./schemas.ts";

export const TAGS = {
  Devices: "Devices and their ports.",
  Links: "Links between devices, one record a direction.",
  Hosts: "Hosts and where they are attached.",
  Topology: "The network as a whole: counts, clusters, and the graph.",
  Service: "The service itself: health, metrics, documentation and the map.",
} as const;
type Tag = keyof typeof TAGS;

export const READ_HEADERS: readonly HeaderName[] = [...COMMON_HEADERS, "Gazetteer-Revision", "ETag"];

/** What people read about an operation, and its name in generated clients. */
interface OperationText {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
}

interface Operation extends OperationText {
  readonly pathParameters?: readonly string[];
  readonly parameters?: readonly Json[];
  readonly headers: readonly HeaderName[];
  readonly content: Json;
  readonly responses: Json;
  /** Whether it needs no credentials. */
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

export function collectionPath(resource: Resource, text: OperationText): Json {
  const formats = formatsOf(resource);
  const hasStream = formats.some((format) => format.stream);
  return pathItem({
    ...text,
    parameters: [
      ...queryParameters(resource, formats),
      ...headerParameterRefs(
        "IfNoneMatch",
        "AcceptEncoding",
        "MinRevisionHeader",
        ...(hasStream ? (["LastEventId"] as const) : []),
      ),
    ],
    headers: [
      ...READ_HEADERS,
      "Content-Encoding",
      ...(resource === "topology" ? [] : (["Link"] as const)),
      ...(hasStream ? (["X-Accel-Buffering"] as const) : []),
    ],
    content: contentOf(resource, resource === "topology" ? Topology : LIST_SCHEMAS[resource]),
    responses: { ...NOT_MODIFIED, ...problemRefs(400, 401, 403, 406, 410, 414, 421, 429, 431, 500, 503) },
  });
}

const ITEM_FORMATS = formatsOf("topology").filter((format) => format.name === "json");

const EXPLAINED = "With `explain=true`: what each source claims of it, and why each field has its value.";

/** One entity, or its explanation. */
export const entityPath = (schema: Schema, pathParameters: readonly string[], text: OperationText): Json =>
  itemPath(schema, pathParameters, { ...text, description: `${text.description} ${EXPLAINED}` }, "entity", {
    [EXPLANATION_FORMAT.mediaType]: mediaType(Explanation),
  });

export function itemPath(
  schema: Schema,
  pathParameters: readonly string[],
  text: OperationText,
  target: "item" | "entity" = "item",
  otherContent: Json = {},
): Json {
  return pathItem({
    ...text,
    pathParameters,
    parameters: [
      ...queryParameters(target, ITEM_FORMATS),
      ...headerParameterRefs("IfNoneMatch", "AcceptEncoding", "MinRevisionHeader"),
    ],
    headers: [...READ_HEADERS, "Content-Encoding"],
    content: { [JSON_TYPE]: mediaType(schema), ...otherContent },
    responses: {
      ...NOT_MODIFIED,
      ...problemRefs(400, 401, 403),
      ...(pathParameters.length > 0 && problemRefs(404)),
      ...problemRefs(406, 410, 414, 421, 429, 431, 500, 503),
    },
  });
}

export function searchPath(text: OperationText): Json {
  return pathItem({
    ...text,
    parameters: [
      ...queryParameters("search", ITEM_FORMATS),
      ...headerParameterRefs("IfNoneMatch", "AcceptEncoding", "MinRevisionHeader"),
    ],
    headers: [...READ_HEADERS, "Content-Encoding"],
    content: { [HITS_FORMAT.mediaType]: mediaType(Hits) },
    responses: { ...NOT_MODIFIED, ...problemRefs(400, 401, 403, 406, 410, 414, 421, 429, 431, 500, 503) },
  });
}

const EXPLAIN = parameterRef("Explain");

/** `explained` has the content of `explain=true`; paths without it do not have the parameter. */
export function pathsPath(schema: Schema, text: OperationText, explained?: Json): Json {
  const parameters = queryParameters("paths", ITEM_FORMATS);
  return pathItem({
    ...text,
    pathParameters: ["src", "dst"],
    parameters: [
      ...(explained ? parameters : parameters.filter(({ $ref }) => $ref !== EXPLAIN.$ref)),
      ...headerParameterRefs("IfNoneMatch", "AcceptEncoding", "MinRevisionHeader"),
    ],
    headers: [...READ_HEADERS, "Content-Encoding", "Link", "Gazetteer-Paths"],
    content: { [JSON_TYPE]: mediaType(schema), ...explained },
    responses: { ...NOT_MODIFIED, ...problemRefs(400, 401, 403, 406, 410, 414, 421, 429, 431, 500, 503) },
  });
}

export function problemsPath(text: OperationText): Json {
  return pathItem({
    ...text,
    pathParameters: [],
    parameters: [
      ...queryParameters("problems", PROBLEMS_FORMATS),
      ...headerParameterRefs("IfNoneMatch", "AcceptEncoding", "MinRevisionHeader", "LastEventId"),
    ],
    headers: [...READ_HEADERS, "Content-Encoding", "Link", "X-Accel-Buffering"],
    content: {
      [PROBLEMS_FORMAT.mediaType]: mediaType(ProblemList),
      "text/event-stream": { schema: { type: "string" } },
    },
    responses: { ...NOT_MODIFIED, ...problemRefs(400, 401, 403, 406, 410, 414, 421, 429, 431, 500, 503) },
  });
}
/** Of the shortest paths: their explanation. */
export const EXPLAINED_PATHS: Json = {
  [PATH_EXPLANATION_FORMAT.mediaType]: mediaType(PathExplanation),
};

/** The schemas with a name that the parameters of all paths use. */
export const PARAMETER_SCHEMAS: readonly Schema[] = [
  ...(["devices", "ports", "links", "hosts", "topology"] as const).flatMap((resource) =>
    parameterSchemas(resource, formatsOf(resource)),
  ),
  ...parameterSchemas("entity", ITEM_FORMATS),
  ...parameterSchemas("problems", PROBLEMS_FORMATS),
  ...parameterSchemas("paths", ITEM_FORMATS),
];

export const AUXILIARY_PROBLEMS = problemRefs(401, 403, 414, 421, 429, 431, 500, 503);

export function filePath(
  text: OperationText,
  content: Json,
  headers: readonly HeaderName[],
  pathParameters: readonly string[] = [],
  problems: Json = {},
): Json {
  const notModified = {
    description: "The representation still has an entity tag of If-None-Match.",
    headers: headerRefs(headers),
  };
  return pathItem({
    ...text,
    pathParameters,
    parameters: headerParameterRefs("IfNoneMatch", "AcceptEncoding"),
    headers,
    content,
    responses: {
      "304": notModified,
      ...(pathParameters.length > 0 && problemRefs(404)),
      ...AUXILIARY_PROBLEMS,
      ...problems,
    },
  });
}
