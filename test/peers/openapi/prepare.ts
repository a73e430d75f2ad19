/** Installs the OpenAPI tools before the suite runs (scripts/test/preparations.ts). */
import { installTools } from "./tools.ts";

installTools();
