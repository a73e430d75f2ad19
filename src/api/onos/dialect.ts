/**
 * A dialect: how one path prefix spells the interface. The resources, queries, formats and caches are the same in every
 * dialect. It decides which fields an entity has, how ids and ports are spelled, what the topology counts, which
 * parameters are ignored, and the shape of errors. Reads produce the interface's own JSON and pass it through the dialect
 * last, so that filters, indexes and history know nothing of it.
 */
import type { Paced } from "../../lib/steps.ts";
import type { Topology } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { QueryParameter } from "../../query/parameter.ts";
import type { ParameterSet } from "../../query/parameters.ts";
import type { EncodedPage } from "../../view/encoded-page.ts";
import type { LinkGraph } from "../../view/link-graph.ts";
import type { ProblemDetails, UnknownResourceProblem } from "../response/problem.ts";

export interface ErrorBody {
  readonly contentType: string;
  readonly body: string;
}

export interface Dialect {
  /** Begins the key of every representation, so that two dialects share neither entity tags nor cached bodies. */
  readonly keyPrefix: string;
  /** An entity contains its revision, so that its bytes differ in every revision. */
  readonly showsRevision: boolean;
  /** Whether it has the parameter `drift`, and entities that are missing. */
  readonly showsDrift: boolean;
  /** Whether a device may be given by its name, and lists have the parameter `name` and the order by it. */
  readonly acceptsNames: boolean;
  /** Added to the error of a path that does not exist. */
  readonly unknownPathHint: string;
  /** The problem of a path that only the original of the dialect has. Its header `Allow` is the answer to OPTIONS. */
  missingResource(method: string, path: string): UnknownResourceProblem | undefined;
  /** What to do instead of a request that writes; undefined for what is said everywhere. */
  readonly writeAdvice: string | undefined;
  /** The top-level fields that an entity has at most; undefined for all. */
  fields(kind: Kind): readonly string[] | undefined;
  entity(kind: Kind, json: string): string;
  /** The same page gives the same object every time, so that its compressed form is cached with it. */
  pages(kind: Kind, pages: readonly EncodedPage[]): Paced<EncodedPage>;
  deviceId(id: string): string;
  /** The cost of a path, which is a whole number. */
  cost(cost: number): string;
  /** `graph` is what `topology` counts. */
  topology(topology: Topology, graph: LinkGraph): Partial<Topology>;
  /** The parameters that have a meaning. */
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
