/**
 * A dialect is the variant of the interface under one path prefix. The resources, queries, formats and caches are the same
 * in every dialect. The dialect decides which fields an entity has, how ids and ports are written, what the topology
 * counts, which parameters are ignored, and the shape of errors. Reads produce the interface's own JSON and pass it through
 * the dialect last, so that filters, indexes and history do not depend on it.
 */
import type { Paced } from "../../lib/steps.ts";
import type { Topology } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { QueryParameter } from "../../query/parameter.ts";
import type { ParameterSet } from "../../query/parameters.ts";
import type { EncodedValue } from "../../view/collection.ts";
import type { EncodedPage } from "../../view/encoded-page.ts";
import type { LinkGraph } from "../../view/link-graph.ts";
import type { ProblemDetails, UnknownResourceProblem } from "../response/problem.ts";

export interface ErrorBody {
  readonly contentType: string;
  readonly body: string;
}

export interface Dialect {
  /** The beginning of the key of every representation, so that two dialects share neither entity tags nor cached bodies. */
  readonly keyPrefix: string;
  /** Whether an entity contains its revision, so that its bytes differ in every revision. */
  readonly showsRevision: boolean;
  /** Whether it has the parameter `drift` and shows missing entities. */
  readonly showsDrift: boolean;
  /** Whether a device may be given by its name, and lists have the parameter `name` and can be sorted by name. */
  readonly acceptsNames: boolean;
  /** Text that is added to the error of a path that does not exist. */
  readonly unknownPathHint: string;
  /** The problem of a path that only the imitated service has. The response to OPTIONS has its header `Allow`. */
  missingResource(method: string, path: string): UnknownResourceProblem | undefined;
  /** The advice in the response to a request that writes; undefined for the usual text. */
  readonly writeAdvice: string | undefined;
  /** The top-level fields that an entity can have; undefined for all. */
  fields(kind: Kind): readonly string[] | undefined;
  entity(kind: Kind, json: string): string;
  /** Converts pages. The same page gives the same object every time, so that its compressed form is cached with it. */
  pages(kind: Kind, pages: readonly EncodedPage[]): Paced<EncodedPage>;
  deviceId(id: string): string;
  /** The text of the cost of a path. `cost` is a whole number. */
  cost(cost: number): string;
  /** Converts the topology. `graph` is the graph that it counts. */
  topology(topology: Topology, graph: LinkGraph): Partial<Topology>;
  /** The parameters that are not ignored. */
  parameters(parameters: readonly QueryParameter[], set: ParameterSet): readonly QueryParameter[];
  error(problem: ProblemDetails, instance: string): ErrorBody;
}

export const problemBody = (problem: ProblemDetails, instance: string): ErrorBody => ({
  contentType: "application/problem+json",
  body: problem.body(instance),
});

/** The interface as it is documented. */
export const PLAIN: Dialect = {
  keyPrefix: "",
  showsRevision: true,
  showsDrift: true,
  acceptsNames: true,
  unknownPathHint: "",
  missingResource: () => undefined,
  writeAdvice: undefined,
  fields: () => undefined,
  entity: (_kind, json) => json,
  pages: (_kind, pages) => pages,
  deviceId: (id) => id,
  cost: String,
  topology: (topology) => topology,
  parameters: (parameters) => parameters,
  error: problemBody,
};

/** The JSON of an entity in a dialect. The plain one sends the bytes of the page. */
export const entityJson = (dialect: Dialect, kind: Kind, value: EncodedValue): Uint8Array =>
  dialect === PLAIN ? value.bytes : Buffer.from(dialect.entity(kind, value.text));
