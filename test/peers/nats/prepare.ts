/** Builds the newer nats-server before the suite runs (scripts/test/preparations.ts). */
import { newerServer } from "../../support/newer-nats-server.ts";

await newerServer();
