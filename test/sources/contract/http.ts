/** The `http` source: its peer is a server with one document, an entity tag and conditional responses. */
import { DOCUMENT_ROW, documentOf } from "./documents.ts";
import { HTTP_LIMITS, startHttpPeer } from "./http-peer.ts";
import type { ContractRow, NetworkName } from "./row.ts";

export const row: ContractRow = {
  ...DOCUMENT_ROW,
  misbehaviours: ["huge", "endless", "slow"],
  async start() {
    let shown: NetworkName = "a";
    const peer = await startHttpPeer(({ headers }) => {
      const etag = `"${shown}"`;
      if (headers["if-none-match"] === etag) return { status: 304, headers: { etag } };
      return { headers: { etag, "content-type": "application/json" }, body: documentOf(shown) };
    });
    return {
      ...peer,
      entry: { type: "http", url: `${peer.url}/network.json`, intervalSeconds: 1, ...HTTP_LIMITS },
      async show(network) {
        shown = network;
      },
      [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
    };
  },
};
