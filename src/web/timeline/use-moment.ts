/** The time of a moment of the address. That of a revision is read from the service, once. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useStore } from "../data/page-store.ts";
import { isRevision } from "../data/view-state.ts";

/** Epoch milliseconds; undefined without a moment, and until the time of a revision is known. */
export function useMomentMs(moment: string | undefined): number | undefined {
  const { client } = useStore();
  const known = useSignal<{ readonly moment: string; readonly ms: number } | undefined>(undefined);
  useEffect(() => {
    if (moment === undefined || !isRevision(moment)) return;
    const request = new AbortController();
    const revision = Number(moment);
    // The difference of a revision to itself is empty and has its time.
    client.diff("devices", revision, revision, {}, request).then(
      ({ from }) => {
        known.value = { moment, ms: from.time };
      },
      () => {}, // The page shows why the service refuses the revision.
    );
    return () => request.abort();
  }, [moment]);
  if (moment === undefined) return undefined;
  if (!isRevision(moment)) return Date.parse(moment);
  return known.value?.moment === moment ? known.value.ms : undefined;
}
