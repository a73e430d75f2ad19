/** Links, with one record for each direction. */
import Type from "typebox";
import { JSON_FORMAT } from "../../formats/formats.ts";
import { Link } from "../../model/entity.ts";
import { parameterSet } from "../../query/parameters.ts";
import { stateAt } from "../../query/revision.ts";
import { LINK } from "../openapi/example-network.ts";
import { type Endpoint, ITEM_PARAMETERS, NO_PARAMS } from "./endpoint.ts";
import { entityEndpoint, partRepresentation } from "./entity.ts";
import { DOCUMENTS_TEXT, FILTERS_TEXT, listEndpoint } from "./list.ts";
import { next } from "./paging.ts";

const listLinks = listEndpoint({
  id: "listLinks",
  tag: "Links",
  summary: "Links",
  description: `One record a direction. ${FILTERS_TEXT} ${DOCUMENTS_TEXT}`,
  kind: "links",
  path: "/links",
  typeName: "Link",
  schema: Type.Object({ links: Type.Array(Link), next }, { $id: "LinkList" }),
  example: { links: [LINK] },
  parameters: ["device", "port", "direction", "src", "dst"],
});

/** A link that is no longer reported becomes INACTIVE and is removed later. ONOS calls this the use of the stale link age. */
const AGES = { active: true };

const getStaleLinkAge: Endpoint<object> = {
  id: "getStaleLinkAge",
  tag: "Links",
  summary: "Whether silent links age",
  description: "Always true: a link that is silent becomes INACTIVE and is removed. For clients of ONOS.",
  readName: "staleLinkAge",
  path: "/links/usestalelinkage",
  match: ([, word = "", ...rest]) =>
    word.toLowerCase() === "usestalelinkage" && rest.length === 0 ? NO_PARAMS : undefined,
  parameters: parameterSet(ITEM_PARAMETERS),
  variants: [
    {
      formats: [JSON_FORMAT],
      schema: Type.Object({ active: Type.Boolean() }, { $id: "StaleLinkAge" }),
      example: AGES,
      *read(context, _params, query) {
        const state = yield* stateAt(context.history, context.revisions.at);
        const chunks = JSON.stringify(AGES);
        return partRepresentation(context, query, state, {
          key: "stale link age",
          changedAt: () => 0,
          chunks,
        });
      },
    },
  ],
};

const getLink = entityEndpoint({
  id: "getLink",
  tag: "Links",
  summary: "One link by its id",
  description: "The link with this id; the slashes are percent-encoded.",
  kind: "links",
  path: "/links/{id}",
  schema: Link,
  example: LINK,
  match: ([, ...id]) => (id.length > 0 ? id.join("/") : undefined),
});

export const LINK_ENDPOINTS = [listLinks, getStaleLinkAge, getLink];
