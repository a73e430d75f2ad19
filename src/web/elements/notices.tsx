/** Short texts that disappear after some seconds: what was copied, what failed. Screen readers read them out. */
import { useStore } from "../data/page-store.ts";

export function Notices() {
  const { notices } = useStore();
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text }) => (
        <p key={id} class="notice">
          {text}
        </p>
      ))}
    </div>
  );
}
