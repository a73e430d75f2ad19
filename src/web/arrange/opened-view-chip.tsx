/** Says whose arrangement the map shows, when it is not the user's own, and returns to that. */

import { useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import { closeView } from "./view-actions.ts";

const ORIGINS = { browser: "", configuration: ", from the configuration", link: ", from a link" } as const;

export function OpenedViewChip() {
  const store = useStore();
  const opened = store.arranging.opened.value;
  if (!opened) return null;
  const text = `View: ${opened.view.name}${ORIGINS[opened.origin]}${store.arranging.isDraft.value ? ", changed" : ""}`;
  return (
    <span class="chip">
      <span>{text}</span>
      <Button
        class="chip-x"
        label={`Close the view ${opened.view.name}`}
        icon="close"
        onClick={() => closeView(store)}
      />
    </span>
  );
}
