/** The pages for people: the map and the documentation. The files that they load are not endpoints. */
import Type from "typebox";
import type { HeaderName } from "../openapi/parts.ts";
import { loadDocs } from "../site/load-docs.ts";
import { createStaticSite } from "../site/static-site.ts";
import { FILE_HEADERS, type ServiceEndpoint } from "./service-endpoint.ts";

const PAGE_HEADERS: readonly HeaderName[] = [
  ...FILE_HEADERS,
  "Cross-Origin-Opener-Policy",
  "Permissions-Policy",
  "Referrer-Policy",
];

const HTML = {
  tag: "Service",
  mediaType: "text/html",
  schema: Type.String(),
  example: "<!doctype html>",
  headers: PAGE_HEADERS,
  isFile: true,
} as const;

/** The documentation, whose files are part of the package and are loaded at the first request. */
const docs = createStaticSite(loadDocs);

/** The path without a trailing slash, which names the same page. */
const pageOf = (path: string): string => path.replace(/\/$/, "");

export const getDocs: ServiceEndpoint = {
  path: "/docs",
  access: "reader",
  matches: (path) => pageOf(path) === "/docs",
  respond: ({ path, request }) => docs.respond(pageOf(path), request),
  openapi: {
    ...HTML,
    id: "getDocs",
    summary: "The documentation",
    description: "The README as a page, with links to all other pages and a search.",
  },
};

export const getDocsPage: ServiceEndpoint = {
  path: "/docs/{page}",
  access: "reader",
  matches: (path) => path.startsWith("/docs/"),
  exists: (path) => docs.has(pageOf(path)),
  respond: ({ path, request }) => docs.respond(pageOf(path), request),
  openapi: {
    ...HTML,
    id: "getDocsPage",
    summary: "One page of the documentation",
    description: "A file of the folder `docs`, rendered.",
  },
};

export const getMap: ServiceEndpoint = {
  path: "/",
  access: "reader",
  matches: (path) => path === "/",
  async respond({ service: { site }, path, request }) {
    return site?.respond(path, request);
  },
  openapi: { ...HTML, id: "getMap", summary: "The map", description: "The web page with the map." },
};
