/**
 * The sound of a new critical problem. It is off until the reader switches it on, which the browser remembers. Browsers
 * play nothing before the first click or key on a page, so that after a reload the sound waits for one.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { loadText, saveText } from "../data/storage.ts";

const STORAGE_KEY = "gazetteer.sound";
/** Two tones, as frequency and start. */
const TONES = [
  [880, 0],
  [660, 0.22],
] as const;
const TONE_SECONDS = 0.2;
const VOLUME = 0.2;

export interface AlarmSound {
  readonly on: ReadonlySignal<boolean>;
  /** The browser plays it. False until the first click or key. */
  readonly ready: ReadonlySignal<boolean>;
  /** Called by a click. Switching it on plays it once. */
  toggle(): void;
  /** Plays it if it is on and ready. */
  play(): void;
}

export function createAlarmSound(): AlarmSound {
  const on = signal(loadText(STORAGE_KEY) === "on");
  const ready = signal(false);
  let context: AudioContext | undefined;
  const play = () => {
    if (on.peek() && ready.peek() && context) playTones(context);
  };
  /** Must run while a click or key is handled. */
  const unlock = async (): Promise<void> => {
    context ??= new AudioContext();
    await context.resume();
    ready.value = true;
  };
  const unlockOnce = () => {
    removeEventListener("pointerdown", unlockOnce);
    removeEventListener("keydown", unlockOnce);
    if (on.peek()) void unlock();
  };
  addEventListener("pointerdown", unlockOnce);
  addEventListener("keydown", unlockOnce);
  return {
    on,
    ready,
    toggle() {
      on.value = !on.peek();
      saveText(STORAGE_KEY, on.peek() ? "on" : "off");
      if (on.peek()) void unlock().then(play);
    },
    play,
  };
}

function playTones(context: AudioContext): void {
  for (const [frequency, start] of TONES) {
    const oscillator = context.createOscillator();
    const gain = context.createGain();
    const from = context.currentTime + start;
    oscillator.frequency.value = frequency;
    gain.gain.setValueAtTime(VOLUME, from);
    // Without a fade the end of a tone clicks.
    gain.gain.exponentialRampToValueAtTime(0.001, from + TONE_SECONDS);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(from);
    oscillator.stop(from + TONE_SECONDS);
  }
}
