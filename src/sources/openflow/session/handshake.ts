/** The messages of the handshake (§6.3.1) that are the same for every switch. */
import { encode, MULTIPART, ROLE, VERSION } from "../codec/openflow-messages.ts";
import { COOKIE, COOKIE_MASK } from "../flows.ts";

export const HELLO = encode("hello", { versions: [VERSION] });

/** All requests of the handshake in one write. A switch replies in the same order. */
export const HANDSHAKE_REQUESTS = Buffer.concat([
  encode("featuresRequest", {}),
  encode("multipartRequest", { type: MULTIPART.description }),
  encode("multipartRequest", { type: MULTIPART.aggregate, cookie: COOKIE, cookieMask: COOKIE_MASK }),
  encode("multipartRequest", { type: MULTIPART.portDescription }),
  encode("roleRequest", { role: ROLE.equal, generation: 0n }),
]);

export type HandshakeReply = "features" | "description" | "ports";
