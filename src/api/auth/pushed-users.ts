/**
 * The users of a reader process. It reads no users file, because the main process sends the whole list at the start and
 * after each change.
 */
import { changedUsers, type User, type Users } from "./users.ts";

export class PushedUsers implements Users {
  readonly file = undefined;
  readonly generated = undefined;
  readonly #listeners = new Set<(names: ReadonlySet<string>) => void>();
  #list: readonly User[];
  #byName: ReadonlyMap<string, User>;

  constructor(users: readonly User[]) {
    this.#list = users;
    this.#byName = indexByName(users);
  }

  replace(users: readonly User[]): void {
    const before = this.#list;
    this.#list = users;
    this.#byName = indexByName(users);
    const names = changedUsers(before, this.#byName);
    for (const listener of this.#listeners) listener(names);
  }

  find(name: string): User | undefined {
    return this.#byName.get(name);
  }

  all(): readonly User[] {
    return this.#list;
  }

  onChange(listener: (names: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** These do nothing, because the main process saves and watches the file. */
  async saveGenerated(): Promise<void> {}
  async watchFile(): Promise<void> {}
}

const indexByName = (users: readonly User[]) => new Map(users.map((user) => [user.name, user]));
