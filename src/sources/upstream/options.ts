/** The options of every source that reads over HTTP: the URL, the credentials, and the limits. */
import Type from "typebox";
import { pathText } from "../../lib/schema-values.ts";
import { secretOptions } from "../secret.ts";

/** Whether a URL can be used. Credentials in it are refused, because they would be shown with it; they have other options. */
export function isUpstreamUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || /[\s#]/.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && url.hostname !== "";
}

/** The options, which are spread into the properties of a kind's schema. */
export const upstreamOptions = {
  url: Type.Refine(
    Type.String({
      maxLength: 2048,
      title: "an http or https URL without a user name and password",
      description: "The address to read from.",
    }),
    isUpstreamUrl,
  ),
  ...secretOptions("credentials", "Credentials for Basic authentication: `<USERNAME>:<PASSWORD>`."),
  ca: Type.Optional(
    pathText({
      title: "the path of a PEM file",
      description: "The authorities to trust for https instead of the system's. Read again at each request.",
    }),
  ),
  timeoutSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3600,
      default: 30,
      description: "How long a request may take, and how long a stream may be silent.",
    }),
  ),
  maxResponseBytes: Type.Optional(
    Type.Integer({
      minimum: 1024,
      maximum: 1024 * 1024 * 1024,
      default: 256 * 1024 * 1024,
      description: "The largest response that is read, after decompression.",
    }),
  ),
};

const UpstreamOptionsSchema = Type.Object(upstreamOptions);
export type UpstreamOptions = Type.Static<typeof UpstreamOptionsSchema>;
