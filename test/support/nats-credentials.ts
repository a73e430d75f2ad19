/** A credentials file of NATS, as `nsc` writes it, for a user that no server knows. */
import { nkeys } from "@nats-io/transport-node";

export function natsCredentials(token: string): string {
  const seed = new TextDecoder().decode(nkeys.createUser().getSeed());
  const block = (name: string, text: string) =>
    `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n\n`;
  return block("NATS USER JWT", token) + block("USER NKEY SEED", seed);
}
