/** What the arrangement has below everything else: a coastline, and a picture of the user. */
import type { RefObject } from "preact";
import { useStore } from "../data/page-store.ts";
import type { NetworkMap } from "../map/map.ts";
import { ArrangeSection } from "./arrange-section.tsx";
import { CoastlineField } from "./coastline-field.tsx";
import { PictureField } from "./picture-field.tsx";

export function BackgroundSection({ map }: { readonly map: RefObject<NetworkMap | null> }) {
  const { background } = useStore().arranging.shown.value;
  return (
    <ArrangeSection title="Background" isUsed={background !== undefined}>
      <CoastlineField />
      <PictureField map={map} />
    </ArrangeSection>
  );
}
