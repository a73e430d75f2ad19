/** The ports that a session has received in its handshake, until its switch has them. */

import type { Quota } from "../../../lib/quota.ts";
import type { PortDescription } from "../codec/port.ts";

export class HandshakePorts extends Map<number, PortDescription> {
  readonly #address: string;
  readonly #quota: Quota;
  readonly #maxPorts: number;

  /** `quota`: the ports of all sessions whose handshake is not complete. */
  constructor(address: string, quota: Quota, maxPorts: number) {
    super();
    this.#address = address;
    this.#quota = quota;
    this.#maxPorts = maxPorts;
  }

  /** Returns which limit does not allow another port. */
  store(port: PortDescription): "session" | "peer" | undefined {
    if (!this.has(port.number)) {
      if (this.size >= this.#maxPorts) return "session";
      if (this.#quota.exceededBy(this.#address) !== undefined) return "peer";
      this.#quota.add(this.#address);
    }
    this.set(port.number, port);
    return undefined;
  }

  discard(number: number): void {
    if (this.delete(number)) this.#quota.remove(this.#address);
  }

  release(): void {
    this.#quota.remove(this.#address, this.size);
    this.clear();
  }
}
