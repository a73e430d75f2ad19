/** So many a second for each of many keys, with a burst of two seconds' worth; idle keys cost nothing. */
export class Budget {
  readonly #perSecond: number;
  readonly #spent = new Map<string, { left: number; at: number }>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  take(key: string, now: number): boolean {
    const most = this.#perSecond * 2;
    const account = this.#spent.get(key) ?? { left: most, at: now };
    account.left = Math.min(most, account.left + ((now - account.at) / 1000) * this.#perSecond);
    account.at = now;
    this.#spent.set(key, account);
    if (account.left < 1) return false;
    account.left--;
    return true;
  }

  /** Forgets keys whose budget is full again. */
  sweep(now: number): void {
    for (const [key, { at }] of this.#spent) if (now - at > 2000) this.#spent.delete(key);
  }
}
