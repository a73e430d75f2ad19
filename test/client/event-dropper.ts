/**
 * Drops one change from a stream and leaves everything else unchanged: a loss that the client cannot detect. The last
 * record of a revision with several is not dropped, because the client would detect that and reconnect.
 */
export interface EventDropper {
  /** From now on, the first change in any stream is dropped. */
  arm(): void;
  /** The record that was dropped, once it is certain that it is lost. */
  readonly dropped: string | undefined;
  /** The filter for one stream. */
  createTransform(): TransformStream<Uint8Array, Uint8Array>;
}

export function createEventDropper(): EventDropper {
  let armed = false;
  let dropped: string | undefined;
  const isChange = (record: string) => /^event: (?:added|updated|removed)\n/.test(record);
  return {
    arm() {
      armed = true;
    },
    get dropped() {
      return dropped;
    },
    createTransform() {
      const decoder = new TextDecoder();
      const encoder = new TextEncoder();
      let rest = "";
      // Removed from this stream. If the client does not receive the end of the revision, it receives the revision
      // again on the next connection, and the change is not lost.
      let removed: string | undefined;
      return new TransformStream({
        transform(chunk, controller) {
          const records = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
          rest = records.pop() ?? "";
          let passed = "";
          let revisionEnded = false;
          for (const record of records) {
            const mayDrop = dropped === undefined && removed === undefined;
            if (mayDrop && armed && isChange(record)) removed = record;
            else {
              passed += `${record}\n\n`;
              revisionEnded ||= removed !== undefined && record.startsWith("id: ");
            }
          }
          // Passed on in one chunk: the client is reading, so a connection that breaks now does not lose the end.
          if (passed !== "") controller.enqueue(encoder.encode(passed));
          if (revisionEnded) dropped ??= removed;
        },
      });
    },
  };
}
