/**
 * Accounts for the memory that responses use, for each user and for the process. Every response that is not sent at once
 * has an account, which is released when the response is sent or its client disconnects.
 *
 * - Memory is reserved before it is used: some for every read that is not answered at once, more for a body that is
 *   produced while it is sent. An account counts its reservation until it holds more than that.
 * - A reservation that does not fit into the budget of its user, or of the process, is refused. The oldest response of a
 *   user is never refused, so neither is a user without other responses.
 * - A response that grows over the budget waits for other responses of its user. The oldest one never waits, so that one
 *   can always continue.
 *
 * Sizes are estimates. Memory that several responses share counts once for each of their users, and once for the process.
 */
import type { Runnable } from "./steps.ts";

/** The limits are read at each use, because they change when the service reloads its configuration. */
export interface MemoryLimits {
  /** The limit for all responses together. */
  readonly responseBytes: number;
  readonly responseBytesPerUser: number;
}

/** Bytes reserved for a read until more is known about it: its computation, and the rows of a small response. */
export const READ_BYTES = 16 * 1024;

/** An account without limits, for tools and tests, which share the memory with nobody. */
export const uncountedMemory = (): MemoryAccount =>
  new MemoryBudget({ responseBytes: Infinity, responseBytesPerUser: Infinity }).account("");

/** Memory that several responses share, and in some cases a cache or the view too. */
export interface SharedMemory {
  /** The size in bytes; 0 while the memory exists independently of the responses. */
  readonly heldBytes: number;
}

/** The memory that a user or the process holds. */
class Holder {
  /** Bytes of the accounts, without shared memory. */
  ownBytes = 0;
  /** Number of accounts that hold each shared memory. */
  readonly #shared = new Map<SharedMemory, number>();

  get bytes(): number {
    let sum = this.ownBytes;
    for (const shared of this.#shared.keys()) sum += shared.heldBytes;
    return sum;
  }

  hold(shared: SharedMemory): void {
    this.#shared.set(shared, (this.#shared.get(shared) ?? 0) + 1);
  }

  drop(shared: SharedMemory): void {
    const count = (this.#shared.get(shared) ?? 1) - 1;
    if (count > 0) this.#shared.set(shared, count);
    else this.#shared.delete(shared);
  }
}

class UserHolder extends Holder {
  /** The open accounts, the oldest first. */
  readonly accounts = new Set<MemoryAccount>();
}

export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #process = new Holder();
  /** The users with an open account. */
  readonly #users = new Map<string, UserHolder>();
  /** Callbacks of responses that wait until others are released. */
  #waiting: (() => void)[] = [];

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Number of bytes that the user's responses hold now. */
  bytesOf(user: string): number {
    return this.#users.get(user)?.bytes ?? 0;
  }

  /** Number of bytes that all responses hold now. */
  get bytes(): number {
    return this.#process.bytes;
  }

  /** Whether the user may start another response, for which `READ_BYTES` are reserved. */
  admits(user: string): boolean {
    const holder = this.#users.get(user);
    return !holder || this.#hasRoom(holder, READ_BYTES);
  }

  #hasRoom(holder: Holder, bytes: number): boolean {
    const { responseBytesPerUser, responseBytes } = this.#limits;
    return holder.bytes + bytes <= responseBytesPerUser && this.bytes + bytes <= responseBytes;
  }

  /** @internal */
  hasRoomToSpare(user: string, bytes: number): boolean {
    const { responseBytesPerUser, responseBytes } = this.#limits;
    return this.bytesOf(user) + bytes <= responseBytesPerUser / 2 && this.bytes + bytes <= responseBytes / 2;
  }

  /** @internal */
  fits(account: MemoryAccount, bytes: number): boolean {
    const holder = this.#users.get(account.user);
    return !holder || firstOf(holder.accounts) === account || this.#hasRoom(holder, bytes);
  }

  /** Creates the account of one response. It counts after `open` is called. */
  account(user: string): MemoryAccount {
    return new MemoryAccount(this, user);
  }

  /** Counts memory of a user's response until the returned function is called. */
  holdFor(user: string, memory: SharedMemory): () => void {
    const account = this.account(user);
    account.hold(memory);
    account.open();
    return () => account.release();
  }

  /** @internal */
  open(account: MemoryAccount): void {
    let holder = this.#users.get(account.user);
    if (!holder) {
      holder = new UserHolder();
      this.#users.set(account.user, holder);
    }
    holder.accounts.add(account);
  }

  /** @internal */
  change(user: string, bytes: number): void {
    this.#process.ownBytes += bytes;
    const holder = this.#users.get(user);
    if (holder) holder.ownBytes += bytes;
  }

  /** @internal */
  hold(user: string, shared: SharedMemory): void {
    this.#process.hold(shared);
    this.#users.get(user)?.hold(shared);
  }

  /** @internal */
  drop(user: string, shared: SharedMemory): void {
    this.#process.drop(shared);
    this.#users.get(user)?.drop(shared);
  }

  /** @internal */
  close(account: MemoryAccount): void {
    const holder = this.#users.get(account.user);
    holder?.accounts.delete(account);
    if (holder?.accounts.size === 0) this.#users.delete(account.user);
    this.onReleased();
  }

  /** @internal */
  onReleased(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const goOn of waiting) goOn();
  }

  /** Whether the response has to wait for others of its user. Shared memory is left out: it does not grow by continuing. */
  mustWait(account: MemoryAccount): boolean {
    const holder = this.#users.get(account.user);
    if (!holder || firstOf(holder.accounts) === account) return false;
    return (
      holder.ownBytes > this.#limits.responseBytesPerUser ||
      this.#process.ownBytes > this.#limits.responseBytes
    );
  }

  /** Resolves when memory is released. */
  released(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item;
  return undefined;
}

/** The memory of one response. */
export class MemoryAccount {
  readonly user: string;
  readonly #budget: MemoryBudget;
  #bytes = 0;
  #reservedBytes = 0;
  #shared: SharedMemory[] | undefined;
  #state: "new" | "open" | "released" = "new";

  constructor(budget: MemoryBudget, user: string) {
    this.#budget = budget;
    this.user = user;
  }

  /** Number of bytes that count against the budget. */
  get #ownBytes(): number {
    return Math.max(this.#bytes, this.#reservedBytes);
  }

  /** Starts counting the account, because the response is not sent at once. */
  open(reservedBytes = 0): void {
    if (this.#state !== "new") return;
    this.#state = "open";
    this.#reservedBytes = reservedBytes;
    this.#budget.open(this);
    this.#budget.change(this.user, this.#ownBytes);
    for (const shared of this.#shared ?? []) this.#budget.hold(this.user, shared);
  }

  /** Replaces the reservation of an open account. Returns false when the bytes do not fit into the budget. */
  reserve(bytes: number): boolean {
    const more = bytes - this.#ownBytes;
    if (more > 0 && !this.#budget.fits(this, more)) return false;
    const before = this.#ownBytes;
    this.#reservedBytes = bytes;
    this.#onChanged(before);
    return true;
  }

  /** Adds bytes; a negative number subtracts bytes that were freed. */
  add(bytes: number): void {
    if (this.#state === "released") return;
    const before = this.#ownBytes;
    this.#bytes += bytes;
    this.#onChanged(before);
  }

  #onChanged(before: number): void {
    const more = this.#ownBytes - before;
    if (more === 0 || this.#state !== "open") return;
    this.#budget.change(this.user, more);
    if (more < 0) this.#budget.onReleased();
  }

  /** Whether memory that only saves time leaves half of the budget to memory that is needed. */
  hasRoomToSpare(bytes: number): boolean {
    return this.#budget.hasRoomToSpare(this.user, bytes);
  }

  /** Counts shared memory until the account is released. */
  hold(shared: SharedMemory): void {
    if (this.#state === "released" || this.#shared?.includes(shared)) return;
    this.#shared ??= [];
    this.#shared.push(shared);
    if (this.#state === "open") this.#budget.hold(this.user, shared);
  }

  release(): void {
    const isOpen = this.#state === "open";
    this.#state = "released";
    if (isOpen) {
      this.#budget.change(this.user, -this.#ownBytes);
      for (const shared of this.#shared ?? []) this.#budget.drop(this.user, shared);
      this.#budget.close(this);
    }
    this.#bytes = 0;
    this.#reservedBytes = 0;
    this.#shared = undefined;
  }

  /** Whether the response has to wait for others of its user. */
  get mustWait(): boolean {
    return this.#state === "open" && this.#budget.mustWait(this);
  }

  /** Returns the same computation, which waits before its first step and at its pauses while `mustWait` is true. */
  paced<Result>(steps: Runnable<Result>): Runnable<Result> {
    return new PacedSteps(this, this.#budget, steps);
  }
}

/** This is not a generator, because most reads complete in their first step, and a generator would cost more than they do. */
class PacedSteps<Result> implements Runnable<Result> {
  readonly #account: MemoryAccount;
  readonly #budget: MemoryBudget;
  readonly #steps: Runnable<Result>;

  constructor(account: MemoryAccount, budget: MemoryBudget, steps: Runnable<Result>) {
    this.#account = account;
    this.#budget = budget;
    this.#steps = steps;
  }

  next(): IteratorResult<undefined | Promise<unknown>, Result> {
    return this.#account.mustWait ? { done: false, value: this.#budget.released() } : this.#steps.next();
  }

  return(): void {
    this.#steps.return();
  }
}
