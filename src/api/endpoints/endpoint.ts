/**
 * An endpoint is one value: the path, its parameters, its representations and its documentation. Routing, content
 * negotiation and the OpenAPI document are derived from the list in `endpoints.ts`, so that a new path needs one new value.
 */
import type { DocumentFormat, Format } from "../../formats/formats.ts";
import type { ResultOrSteps, Steps } from "../../lib/steps.ts";
import type { ParameterName, ParameterSet } from "../../query/parameters.ts";
import type { ParsedQuery } from "../../query/query.ts";
import type { ReadRequest } from "../exchange.ts";
import type { Schema } from "../openapi/components.ts";
import type { HeaderName } from "../openapi/parts.ts";
import type { Representation } from "../response/representation.ts";
import type { ChangeCursor, StreamStart } from "../stream/change-cursor.ts";
import type { ReadLimits, RequestContext } from "./read-context.ts";

export const TAGS = {
  Devices: "Devices and their ports.",
  Links: "Links between devices, one record a direction.",
  Hosts: "Hosts and where they are attached.",
  Topology: "The network as a whole: counts, clusters, and the graph.",
  Service: "The service itself: health, metrics, documentation and the map.",
} as const;

/** The documentation of a path, and its name in generated clients. */
export interface EndpointText {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
}

/** A read of the network below `/controller/v1` and its aliases. `P` is the type of the parameters in its path. */
export interface Endpoint<P> extends EndpointText {
  /** The label of its requests in the metrics. */
  readonly readName: string;
  /** The path after the version, for the OpenAPI document and for error texts. */
  readonly path: string;
  /**
   * Matches the decoded segments after the version. It is code and not a template, because ids may span several segments.
   * Throws a `ProblemDetails` for a path that contains something that is not valid.
   */
  match(segments: readonly string[]): P | undefined;
  readonly parameters: ParameterSet;
  /** The largest `limit` that it accepts; without this function it is `pageLimit`. */
  maxLimit?(limits: ReadLimits): number;
  /** The plain representation, followed by those that a parameter selects instead. */
  readonly variants: readonly [plain: Variant<P>, ...others: Variant<P>[]];
  readonly openapi?: EndpointDocumentation;
}

/** The parameters that select another document instead of the resource. */
export type VariantParameter = "since" | "diff" | "timeline" | "incident" | "count" | "explain";

export interface Variant<P> {
  /** The parameter that selects the variant; undefined for the plain one. A query has at most one such parameter. */
  readonly parameter?: VariantParameter;
  /** The formats of the variant in order of preference, JSON first. */
  readonly formats: readonly [json: Format | DocumentFormat, ...others: Format[]];
  /** The schema of the JSON; `example` is an example of it. */
  readonly schema: Schema;
  readonly example: unknown;
  read(
    context: RequestContext,
    params: P,
    query: ParsedQuery,
    format: Format,
    request: ReadRequest,
  ): ResultOrSteps<Representation>;
  /** Opens the stream. Set if the variant has a stream format. */
  stream?(context: RequestContext, params: P, query: ParsedQuery, start: StreamStart): Steps<ChangeCursor>;
}

/** The documentation of an endpoint that the OpenAPI document cannot derive from the other fields. */
export interface EndpointDocumentation {
  /** The beginning of the names of its enumerations, such as `Device` in `DeviceSort`; `Item` by default. */
  readonly typeName?: string;
  /** Parameters that differ from those of the same name at other endpoints, as components of their own. */
  readonly parameters?: Partial<Readonly<Record<ParameterName, OwnParameter>>>;
  /** Response headers that other endpoints do not have. */
  readonly headers?: readonly HeaderName[];
  /** Whether it never responds with a 404, because every value in its path has a response. */
  readonly isAlwaysFound?: boolean;
  /** The schema of its stream, if it is not that of changes of entities. */
  readonly streamSchema?: Schema;
}

export interface OwnParameter {
  readonly component: string;
  readonly description: string;
  readonly schema: Schema;
  readonly required?: boolean;
}

/** The parameters of a path that has none. */
export const NO_PARAMS: object = {};

/** Matches exactly these segments. */
export const matchExactly =
  (...expected: readonly string[]) =>
  (segments: readonly string[]): object | undefined =>
    segments.length === expected.length && expected.every((segment, i) => segment === segments[i])
      ? NO_PARAMS
      : undefined;

/** The parameters that every read has. */
export const ITEM_PARAMETERS: readonly ParameterName[] = ["format", "min-revision", "at"];
