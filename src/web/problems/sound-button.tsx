/** Switches the sound of new critical problems on and off. */

import { useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";

export function SoundButton() {
  const { on, ready, toggle } = useStore().problems.sound;
  const waits = on.value && !ready.value;
  return (
    <>
      {waits && <span class="muted sound-note">Sound starts with the first click or key</span>}
      <Button
        label="Sound on new critical problems"
        icon={on.value ? "soundOn" : "soundOff"}
        pressed={on.value}
        onClick={toggle}
      />
    </>
  );
}
