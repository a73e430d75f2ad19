/** Users of a process that reads no file of its own: another process says who they are, and when they change. */
import { changedUsers, type User, type Users } from "./users.ts";

export class PushedUsers implements Users {
  readonly file = undefined;
  readonly generated = undefined;
  readonly #listeners = new Set<(names: ReadonlySet<string>) => void>();
  #order: readonly User[];
  #users: ReadonlyMap<string, User>;

  constructor(users: readonly User[]) {
    this.#order = users;
    this.#users = byName(users);
  }

  adopt(users: readonly User[]): void {
    const before = this.#order;
    this.#order = users;
    this.#users = byName(users);
    const names = changedUsers(before, this.#users);
    for (const listener of this.#listeners) listener(names);
  }

  find(name: string): User | undefined {
    return this.#users.get(name);
  }

  all(): readonly User[] {
    return this.#order;
  }

  onChange(listener: (names: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Both are the business of whoever tells. */
  async keepGenerated(): Promise<void> {}
  async follow(): Promise<void> {}
}

const byName = (users: readonly User[]) => new Map(users.map((user) => [user.name, user]));
