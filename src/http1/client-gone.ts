/**
 * Tells the code that produces a response that its client is gone, so that the work can stop.
 * A client that closes only its sending side counts as gone too, because most clients that give up do only that.
 */
export class ClientGone {
  #listener: (() => void) | undefined;
  #isGone = false;

  get reported(): boolean {
    return this.#isGone;
  }

  /** The listener is called once: when the client goes, or immediately if it is gone already. Undefined removes it. */
  set listener(listener: (() => void) | undefined) {
    this.#listener = listener;
    if (this.#isGone) this.report();
  }

  report(): void {
    const listener = this.#listener;
    this.#isGone = true;
    this.#listener = undefined;
    listener?.();
  }
}
