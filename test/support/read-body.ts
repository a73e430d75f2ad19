/** Reads a response body to its end, as the response writer does. */
import type { BodySource } from "../../src/http1/body-source.ts";

export function readBody(source: BodySource): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  return new Promise((resolve, reject) => {
    const read = () => {
      try {
        for (let piece = source.next(); piece !== "wait"; piece = source.next()) {
          if (piece === "end") return resolve(Buffer.concat(parts));
          parts.push(piece);
        }
      } catch (error) {
        reject(error);
      }
    };
    source.open(read);
    read();
  });
}
