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
  /** The open accounts, the oldest first. */
  readonly accounts = new Set<MemoryAccount>();
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

  isOldest(account: MemoryAccount): boolean {
    for (const oldest of this.accounts) return oldest === account;
    return false;
  }
}

export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #process = new Holder();
  /** The users with an open account. */
  readonly #users = new Map<string, Holder>();
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
    return !this.#users.has(user) || this.hasRoom(user, READ_BYTES);
  }

  /** Whether the bytes fit into a share of the budget of the user and of the process. */
  hasRoom(user: string, bytes: number, share = 1): boolean {
    const { responseBytesPerUser, responseBytes } = this.#limits;
    return (
      this.bytesOf(user) + bytes <= responseBytesPerUser * share &&
      this.bytes + bytes <= responseBytes * share
    );
  }

  /** Whether the accounts of the holder, or all of them, exceed the budget without shared memory. */
  isExceededBy(holder: Holder): boolean {
    const { responseBytesPerUser, responseBytes } = this.#limits;
    return holder.ownBytes > responseBytesPerUser || this.#process.ownBytes > responseBytes;
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

  /** Adds the account. Returns what counts its memory: its user and the process. */
  open(account: MemoryAccount): Holders {
    let user = this.#users.get(account.user);
    if (!user) {
      user = new Holder();
      this.#users.set(account.user, user);
    }
    user.accounts.add(account);
    return [user, this.#process];
  }

  close(account: MemoryAccount, [{ accounts }]: Holders): void {
    accounts.delete(account);
    if (accounts.size === 0) this.#users.delete(account.user);
    this.onReleased();
  }

  onReleased(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const goOn of waiting) goOn();
  }

  /** Resolves when memory is released. */
  released(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

type Holders = readonly [user: Holder, process: Holder];

/** The memory of one response. */
export class MemoryAccount {
  readonly user: string;
  readonly #budget: MemoryBudget;
  #bytes = 0;
  #reservedBytes = 0;
  #shared: SharedMemory[] | undefined;
  /** Set while the account is open. */
  #holders: Holders | undefined;
  #isReleased = false;

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
    if (this.#holders || this.#isReleased) return;
    this.#holders = this.#budget.open(this);
    this.#reservedBytes = reservedBytes;
    for (const holder of this.#holders) {
      holder.ownBytes += this.#ownBytes;
      for (const shared of this.#shared ?? []) holder.hold(shared);
    }
  }

  /** Replaces the reservation of an open account. Returns false when the bytes do not fit into the budget. */
  reserve(bytes: number): boolean {
    const before = this.#ownBytes;
    const isOldest = !this.#holders || this.#holders[0].isOldest(this);
    if (bytes > before && !isOldest && !this.#budget.hasRoom(this.user, bytes - before)) return false;
    this.#reservedBytes = bytes;
    this.#onChanged(before);
    return true;
  }

  /** Adds bytes; a negative number subtracts bytes that were freed. */
  add(bytes: number): void {
    if (this.#isReleased) return;
    const before = this.#ownBytes;
    this.#bytes += bytes;
    this.#onChanged(before);
  }

  #onChanged(before: number): void {
    const more = this.#ownBytes - before;
    if (more === 0 || !this.#holders) return;
    for (const holder of this.#holders) holder.ownBytes += more;
    if (more < 0) this.#budget.onReleased();
  }

  /** Whether memory that only saves time leaves half of the budget to memory that is needed. */
  hasRoomToSpare(bytes: number): boolean {
    return this.#budget.hasRoom(this.user, bytes, 1 / 2);
  }

  /** Counts shared memory until the account is released. */
  hold(shared: SharedMemory): void {
    if (this.#isReleased || this.#shared?.includes(shared)) return;
    this.#shared ??= [];
    this.#shared.push(shared);
    if (this.#holders) for (const holder of this.#holders) holder.hold(shared);
  }

  release(): void {
    const holders = this.#holders;
    this.#isReleased = true;
    if (!holders) return;
    this.#holders = undefined;
    for (const holder of holders) {
      holder.ownBytes -= this.#ownBytes;
      for (const shared of this.#shared ?? []) holder.drop(shared);
    }
    this.#bytes = 0;
    this.#reservedBytes = 0;
    this.#shared = undefined;
    this.#budget.close(this, holders);
  }

  /** Whether the response has to wait for others of its user. Shared memory is left out: it does not grow by continuing. */
  get mustWait(): boolean {
    const user = this.#holders?.[0];
    return user !== undefined && !user.isOldest(this) && this.#budget.isExceededBy(user);
  }

  /** Resolves when other responses release memory. */
  released(): Promise<void> {
    return this.#budget.released();
  }

  /** Returns the same computation, which waits before its first step and at its pauses while `mustWait` is true. */
  paced<Result>(steps: Runnable<Result>): Runnable<Result> {
    return new PacedSteps(this, steps);
  }
}

/** This is not a generator, because most reads complete in their first step, and a generator would cost more than they do. */
class PacedSteps<Result> implements Runnable<Result> {
  readonly #account: MemoryAccount;
  readonly #steps: Runnable<Result>;

  constructor(account: MemoryAccount, steps: Runnable<Result>) {
    this.#account = account;
    this.#steps = steps;
  }

  next(): IteratorResult<undefined | Promise<unknown>, Result> {
    return this.#account.mustWait ? { done: false, value: this.#account.released() } : this.#steps.next();
  }

  return(): void {
    this.#steps.return();
  }
}
