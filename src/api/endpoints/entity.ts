/**
 * The representations of one entity, and of documents about one device (`DevicePart`). The entity is given by its id, an
 * alias, or the name of a device. A read of an entity of the current state is complete within the call, because steps would
 * cost more than the look-up.
 */
import { EXPLANATION_FORMAT, JSON_FORMAT } from "../../formats/formats.ts";
import { quote } from "../../lib/error-text.ts";
import type { ResultOrSteps, Steps } from "../../lib/steps.ts";
import type { CollectionVersions } from "../../log/log.ts";
import { Explanation, WHY } from "../../model/explanation.ts";
import type { Kind } from "../../model/ids.ts";
import { AmbiguousNameFault } from "../../query/fault.ts";
import { findMissing } from "../../query/missing.ts";
import { parameterSet } from "../../query/parameters.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import { EncodedValue } from "../../view/collection.ts";
import { explainEntity } from "../../view/explain.ts";
import type { NetworkState, View } from "../../view/view.ts";
import { type Dialect, entityJson } from "../onos/dialect.ts";
import type { Schema } from "../openapi/components.ts";
import { FIRST } from "../openapi/example-network.ts";
import { ProblemDetails, problemOf } from "../response/problem.ts";
import {
  type Content,
  JSON_TYPE,
  type Representation,
  TextRepresentation,
} from "../response/representation.ts";
import { type Endpoint, type EndpointText, ITEM_PARAMETERS, type Variant } from "./endpoint.ts";
import type { RequestContext } from "./read-context.ts";
import { entityRevision, type ShownChangedAt, type Versions, versionsOf, whileShown } from "./versions.ts";

interface EntityEndpointOptions extends EndpointText {
  readonly kind: Kind;
  readonly path: string;
  readonly schema: Schema;
  readonly example: unknown;
  /** Returns the id in the path. */
  match(segments: readonly string[]): string | undefined;
}

/** Creates the endpoint of one entity, which has the explanation of the entity as a variant (`explain=true`). */
export function entityEndpoint(options: EntityEndpointOptions): Endpoint<string> {
  const { kind, path, schema, example, match, description, ...text } = options;
  return {
    ...text,
    description: `${description} With \`explain=true\`: what each source claims of it, and why each field has its value.`,
    readName: "item",
    path,
    match,
    parameters: parameterSet([...ITEM_PARAMETERS, "explain"]),
    variants: [
      {
        formats: [JSON_FORMAT],
        schema,
        example,
        read: (context, id, query) => entityRepresentation(context, kind, id, query),
      },
      explanationVariant(kind),
    ],
  };
}

const entityRepresentation = (
  context: RequestContext,
  kind: Kind,
  id: string,
  query: ParsedQuery,
): ResultOrSteps<Representation> =>
  query.at === undefined
    ? createEntity(context, kind, id, query, context.view.capture())
    : pastEntity(context, kind, id, query);

function* pastEntity(
  context: RequestContext,
  kind: Kind,
  id: string,
  query: ParsedQuery,
): Steps<Representation> {
  return createEntity(context, kind, id, query, yield* stateAt(context.history, context.revisions.at));
}

function createEntity(
  { view, dialect }: RequestContext,
  kind: Kind,
  id: string,
  query: ParsedQuery,
  state: NetworkState,
): Representation {
  const found = findEntity(state, kind, id, dialect);
  if (!found) throw noEntity(state, kind, id, dialect);
  const key = entityKey(kind, found);
  const version = entityRevision(found);
  const own: Versions =
    query.at === undefined
      ? { version, currentVersion: followEntity(view, kind, id, dialect, version) }
      : { version };
  // The id of a host does not depend on the names of devices.
  const { currentVersion } =
    kind === "hosts" ? own : whileShown(own, view, shownEntity(kind, id, dialect), key, state);
  return new TextRepresentation(
    {
      key: `${dialect.keyPrefix}one ${query.fingerprint} ${key}`,
      version,
      currentVersion,
      tagKey: found.id,
      tagVersion: dialect.showsRevision ? version : undefined,
      revision: state.revision,
      contentType: JSON_TYPE,
    },
    entityJson(dialect, kind, found),
  );
}

/** The key contains the id of the found entity, so that each entity has its own responses. */
const entityKey = (kind: Kind, found: EncodedValue | undefined): string => `${kind} ${found?.id ?? ""}`;

const shownEntity = (kind: Kind, id: string, dialect: Dialect) => (state: NetworkState) =>
  entityKey(kind, findEntity(state, kind, id, dialect));

/** Finds an entity by its id or an alias, otherwise a missing entity by its id, otherwise an entity by the names of devices. */
function findEntity(state: NetworkState, kind: Kind, id: string, dialect: Dialect): EncodedValue | undefined {
  const shown = findById(state, kind, id);
  if (shown) return shown;
  const missing = dialect.showsDrift ? findMissing(state, kind, id) : undefined;
  return missing === undefined ? findByName(state, kind, id, dialect) : new EncodedValue(id, missing);
}

const findById = (state: NetworkState, kind: Kind, id: string): EncodedValue | undefined =>
  state.find(kind, state.spelledId(kind, id)) ?? state.find(kind, state.shownId(kind, id, false));

const findByName = (state: NetworkState, kind: Kind, id: string, { acceptsNames }: Dialect) =>
  acceptsNames ? state.find(kind, state.shownId(kind, id, true)) : undefined;

function noEntity(state: NetworkState, kind: Kind, id: string, { acceptsNames }: Dialect): ProblemDetails {
  const ambiguous = acceptsNames ? state.findAmbiguousName(kind, id) : undefined;
  return ambiguous
    ? problemOf(new AmbiguousNameFault(ambiguous))
    : new ProblemDetails(
        "not-found",
        `There is no ${kind.slice(0, -1)} ${quote(id)}${ID_HINTS[kind] ?? ""}.`,
      );
}

const ID_HINTS: Readonly<Partial<Record<Kind, string>>> = {
  hosts: "; a host's id is MAC/VLAN, such as 00:00:00:00:00:01/None",
  links: "; a link's id is DEVICE/PORT-DEVICE/PORT, as in the list of links",
};

/**
 * Returns a function that returns the entity's current revision, or 0 if it was removed. It looks the entity up again only
 * after a change of a collection that may contain it.
 */
function followEntity(view: View, kind: Kind, id: string, dialect: Dialect, initial: number): () => number {
  let seen = Math.max(view.versions[kind], view.versions.missing);
  let revision = initial;
  return () => {
    const version = Math.max(view.versions[kind], view.versions.missing);
    if (version === seen) return revision;
    seen = version;
    const found = findEntity(view.capture(), kind, id, dialect);
    revision = found ? entityRevision(found) : 0;
    return revision;
  };
}

/** A JSON document about the whole network or about one device. */
export interface NetworkPart {
  /** A text of everything that determines the bytes in addition to the query and the state. */
  readonly key: string;
  /** The revision that last changed the collections that the body is rendered from. */
  readonly changedAt: ShownChangedAt;
  readonly chunks: Content["chunks"];
}

/** The representation of a part. `state` is the state that the part is rendered from. */
export function partRepresentation(
  { view, dialect }: RequestContext,
  query: ParsedQuery,
  state: NetworkState,
  { key, changedAt, chunks }: NetworkPart,
  whileCurrent: (versions: Versions) => Versions = (versions) => versions,
): Representation {
  const info = {
    key: `${dialect.keyPrefix}one ${query.fingerprint} ${key}`,
    ...whileCurrent(versionsOf(view, state, query, changedAt)),
    revision: state.revision,
    contentType: JSON_TYPE,
  };
  return typeof chunks === "string"
    ? new TextRepresentation(info, chunks)
    : { info, render: () => ({ chunks }) };
}

/** A part about the device that the path names. */
export interface DevicePart {
  /**
   * The key of the part about the device with this id. The function is kept with the version, so it must not be created in a
   * scope that refers to a state.
   */
  key(id: string): string;
  readonly changedAt: NetworkPart["changedAt"];
  render(state: NetworkState, device: EncodedValue): Steps<Content["chunks"]>;
}

export function* devicePartRepresentation(
  context: RequestContext,
  query: ParsedQuery,
  id: string,
  { key: keyOf, changedAt, render }: DevicePart,
): Steps<Representation> {
  const { history, view, dialect, revisions } = context;
  const state = yield* stateAt(history, revisions.at);
  const device = findDevice(state, id, dialect);
  if (!device) throw noEntity(state, "devices", id, dialect);
  // The part is read here and not in `render`, because an unknown port must be a 404 even if `If-None-Match` matches.
  const chunks = yield* render(state, device);
  const key = keyOf(device.id);
  return partRepresentation(context, query, state, { key, changedAt, chunks }, (versions) =>
    whileShown(versions, view, shownDevice(id, dialect, keyOf), key, state),
  );
}

/** Does not find a missing device, because it has no parts. */
const findDevice = (state: NetworkState, id: string, dialect: Dialect): EncodedValue | undefined =>
  findById(state, "devices", id) ?? findByName(state, "devices", id, dialect);

const shownDevice = (id: string, dialect: Dialect, keyOf: DevicePart["key"]) => (state: NetworkState) =>
  keyOf(findDevice(state, id, dialect)?.id ?? "");

/** The explanation of an entity. A reader process relays it, because only the main process has the collections it needs. */
const explanationVariant = (kind: Kind): Variant<string> => ({
  parameter: "explain",
  formats: [EXPLANATION_FORMAT],
  schema: Explanation,
  example: EXPLANATION_EXAMPLE,
  read: (context, id, query) => explanationRepresentation(context, kind, id, query),
});

function* explanationRepresentation(
  { history, view, dialect, revisions }: RequestContext,
  kind: Kind,
  id: string,
  query: ParsedQuery,
): Steps<Representation> {
  history.requireAllCollections();
  const state = yield* stateAt(history, revisions.at);
  const explanation =
    explainEntity(state, kind, id) ?? explainEntity(state, kind, state.shownId(kind, id, true));
  if (!explanation) throw noEntity(state, kind, id, dialect);
  const info = {
    key: `explanation ${query.fingerprint} ${kind} ${id}`,
    ...versionsOf(view, state, query, explanationChangedAt(kind)),
    revision: state.revision,
    contentType: EXPLANATION_FORMAT.contentType,
  };
  return new TextRepresentation(info, JSON.stringify(explanation));
}

/** The revision that last changed a collection that explanations of this kind are made from. */
const explanationChangedAt =
  (kind: Kind) =>
  ({ claims, missing, settings, ...versions }: CollectionVersions): number =>
    Math.max(versions[kind], versions.devices, claims, missing, settings);

const EXPLANATION_EXAMPLE: Explanation = {
  kind: "devices",
  id: FIRST,
  revision: 7,
  claims: [
    {
      source: "openflow",
      role: "observed",
      status: "live",
      id: FIRST,
      claim: { id: FIRST, available: true, hw: "Open vSwitch" },
    },
    {
      source: "campus",
      role: "observed",
      status: "live",
      id: FIRST,
      claim: { id: FIRST, serial: "FDO1234X" },
    },
  ],
  fields: {
    hw: { value: "Open vSwitch", source: "openflow", why: WHY.only },
    serial: { value: "FDO1234X", source: "campus", why: WHY.only },
    type: { value: "SWITCH", source: null, why: WHY.defaultValue },
  },
};
