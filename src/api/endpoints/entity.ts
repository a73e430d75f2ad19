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
import type { EncodedValue } from "../../view/collection.ts";
import { explainEntity } from "../../view/explain.ts";
import type { NetworkState, View } from "../../view/view.ts";
import type { Dialect } from "../onos/dialect.ts";
import type { Schema } from "../openapi/components.ts";
import { FIRST } from "../openapi/example-network.ts";
import { ProblemDetails, problemOf } from "../response/problem.ts";
import type { Content, Representation, RepresentationInfo } from "../response/representation.ts";
import { JSON_TYPE } from "../response/representation.ts";
import { type Endpoint, type EndpointText, ITEM_PARAMETERS, type Variant } from "./endpoint.ts";
import type { RequestContext } from "./read-context.ts";
import { type Versions, whileShown } from "./shown-version.ts";

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

function entityRepresentation(
  context: RequestContext,
  kind: Kind,
  id: string,
  query: ParsedQuery,
): ResultOrSteps<Representation> {
  if (query.at !== undefined) return pastEntity(context, kind, id, query);
  const { view, dialect } = context;
  const state = view.capture();
  const found = getEntity(state, kind, id, dialect);
  const version = entityRevision(found.text);
  const versions = { version, currentVersion: followEntity(view, kind, id, dialect, version) };
  return createEntity(context, kind, id, query, state, found, versions);
}

function* pastEntity(
  context: RequestContext,
  kind: Kind,
  id: string,
  query: ParsedQuery,
): Steps<Representation> {
  const { history, dialect, revisions } = context;
  const state = yield* stateAt(history, revisions.at);
  // The entity is found here and not in `render`, because an unknown one must be a 404 even if `If-None-Match` matches.
  const found = getEntity(state, kind, id, dialect);
  return createEntity(context, kind, id, query, state, found, { version: entityRevision(found.text) });
}

function createEntity(
  { view, dialect }: RequestContext,
  kind: Kind,
  id: string,
  query: ParsedQuery,
  state: NetworkState,
  found: EncodedValue,
  ownVersions: Versions,
): Representation {
  const key = entityKey(kind, found);
  // The id of a host does not depend on the names of devices.
  const { version, currentVersion } =
    kind === "hosts"
      ? ownVersions
      : whileShown(ownVersions, view, shownEntity(kind, id, dialect), key, state);
  return new TextRepresentation(
    {
      key: `${dialect.keyPrefix}one ${query.fingerprint} ${key}`,
      version,
      currentVersion,
      tagIsVersion: dialect.showsRevision,
      revision: state.revision,
      contentType: JSON_TYPE,
    },
    dialect.entity(kind, found.text),
  );
}

/** The key contains the id of the found entity, so that each entity has its own responses. */
const entityKey = (kind: Kind, found: EncodedValue | undefined): string => `${kind} ${found?.id ?? ""}`;

const shownEntity = (kind: Kind, id: string, dialect: Dialect) => (state: NetworkState) =>
  entityKey(kind, findEntity(state, kind, id, dialect));

class TextRepresentation implements Representation {
  readonly info: RepresentationInfo;
  readonly text: string;

  constructor(info: RepresentationInfo, text: string) {
    this.info = info;
    this.text = text;
  }

  render(): Content {
    return { chunks: this.text };
  }
}

/** Throws a `ProblemDetails` if there is no such entity. */
function getEntity(state: NetworkState, kind: Kind, id: string, dialect: Dialect): EncodedValue {
  const found = findEntity(state, kind, id, dialect);
  if (found) return found;
  throw noEntity(state, kind, id, dialect);
}

/** Finds an entity by its id or an alias, otherwise a missing entity by its id, otherwise an entity by the names of devices. */
function findEntity(state: NetworkState, kind: Kind, id: string, dialect: Dialect): EncodedValue | undefined {
  const shown = findById(state, kind, id);
  if (shown) return shown;
  const missing = dialect.showsDrift ? findMissing(state, kind, id) : undefined;
  return missing === undefined ? findByName(state, kind, id, dialect) : { id, text: missing };
}

const findById = (state: NetworkState, kind: Kind, id: string): EncodedValue | undefined =>
  encodedValue(state, kind, state.spelledId(kind, id)) ??
  encodedValue(state, kind, state.shownId(kind, id, false));

const findByName = (state: NetworkState, kind: Kind, id: string, { acceptsNames }: Dialect) =>
  acceptsNames ? encodedValue(state, kind, state.shownId(kind, id, true)) : undefined;

function encodedValue(state: NetworkState, kind: Kind, id: string): EncodedValue | undefined {
  const text = state.get(kind, id);
  return text === undefined ? undefined : { id, text };
}

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
 * The `revision` of an entity, read from its JSON. Quotes in strings are escaped, so no text of the network can look like
 * this member. An annotation may have the same name, but annotations come before the fields that the service adds.
 */
function entityRevision(json: string): number {
  const at = json.lastIndexOf(REVISION_MEMBER);
  if (at < 0) return 0;
  const from = at + REVISION_MEMBER.length;
  return Number.parseInt(json.slice(from, from + MAX_REVISION_DIGITS), 10);
}

const REVISION_MEMBER = '"revision":';
/** Number of characters that are parsed: enough for every revision. `parseInt` ignores the characters after it. */
const MAX_REVISION_DIGITS = 17;

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
    revision = entityRevision(findEntity(view.capture(), kind, id, dialect)?.text ?? "");
    return revision;
  };
}

/** A JSON document about the whole network or about one device. */
export interface NetworkPart {
  /** A text of everything that determines the bytes in addition to the query and the state. */
  readonly key: string;
  /** The revision that last changed the collections that the body is rendered from. */
  readonly changedAt: (versions: CollectionVersions) => number;
  readonly chunks: Content["chunks"];
}

/** The representation of a part. `state` is the state that the part is rendered from. */
export function partRepresentation(
  context: RequestContext,
  query: ParsedQuery,
  state: NetworkState,
  { key, changedAt, chunks }: NetworkPart,
  whileCurrent: (versions: Versions) => Versions = (versions) => versions,
): Representation {
  const { view, dialect } = context;
  const { version, currentVersion } = whileCurrent(
    query.at === undefined
      ? { version: changedAt(state.versions), currentVersion: followPart(view, changedAt) }
      : { version: state.revision },
  );
  return {
    info: {
      key: `${dialect.keyPrefix}one ${query.fingerprint} ${key}`,
      version,
      currentVersion,
      revision: state.revision,
      contentType: JSON_TYPE,
    },
    text: typeof chunks === "string" ? chunks : undefined,
    render: () => ({ chunks }),
  };
}

const followPart = (view: View, changedAt: NetworkPart["changedAt"]) => (): number =>
  changedAt(view.versions);

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
  const json = JSON.stringify(explanation);
  return {
    info: {
      key: `explanation ${query.fingerprint} ${kind} ${id}`,
      version: explanationChangedAt(state.versions, kind),
      ...(query.at === undefined && { currentVersion: followExplanation(view, kind) }),
      revision: state.revision,
      contentType: EXPLANATION_FORMAT.contentType,
    },
    render() {
      return { chunks: json };
    },
  };
}

const followExplanation = (view: View, kind: Kind) => (): number => explanationChangedAt(view.versions, kind);

/** The revision that last changed a collection that explanations of this kind are made from. */
const explanationChangedAt = (
  { claims, missing, settings, ...versions }: CollectionVersions,
  kind: Kind,
): number => Math.max(versions[kind], versions.devices, claims, missing, settings);

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
