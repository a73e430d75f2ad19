/**
 * Reports that a client is gone, to whoever works or waits for its response: nobody needs it any more.
 * A client that closes only its sending side counts as gone too, because most clients that give up do no more than that.
 */
export class ClientGone {
  #listener: (() => void) | undefined;
  #isGone = false;

  get reported(): boolean {
    return this.#isGone;
  }

  /** Called once, or at once when the client is gone already. Undefined removes the listener. */
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
