/** Builds the newer nats-server before the suite runs (scripts/test/preparations.ts). */
import { newerServer } from "./newer-server.ts";

await newerServer();
