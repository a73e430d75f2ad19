/** The version of this program, from package.json: shown by `gazetteer version` and in the OpenAPI document. */
import manifest from "../../package.json";

export const VERSION = manifest.version;
