/**
 * Takes one change out of a stream, and leaves everything else as it was: the loss that nobody notices. Not the last
 * record of a revision that has several, since the client would see that and ask again.
 */
export interface Thief {
  /** From now on the first change that comes by is taken. */
  arm(): void;
  /** What was taken. */
  readonly stolen: string | undefined;
  /** For one stream. */
  passage(): TransformStream<Uint8Array, Uint8Array>;
}

export function createThief(): Thief {
  let armed = false;
  let stolen: string | undefined;
  const isPrey = (record: string) =>
    armed && stolen === undefined && /^event: (?:added|updated|removed)\n/.test(record);
  return {
    arm() {
      armed = true;
    },
    get stolen() {
      return stolen;
    },
    passage() {
      const decoder = new TextDecoder();
      const encoder = new TextEncoder();
      let rest = "";
      return new TransformStream({
        transform(chunk, controller) {
          const records = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
          rest = records.pop() ?? "";
          for (const record of records) {
            if (isPrey(record)) stolen = record;
            else controller.enqueue(encoder.encode(`${record}\n\n`));
          }
        },
      });
    },
  };
}
