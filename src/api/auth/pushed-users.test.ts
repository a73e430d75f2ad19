import { expect, test } from "bun:test";
import { PushedUsers } from "./users.ts";

const user = (name: string, hash: string) =>
  ({ name, hash, role: "reader", credentialId: `${name}:${hash}` }) as const;

test("listeners get the names of changed and removed users, not of added ones, after the users are replaced", () => {
  const users = new PushedUsers([user("ann", "1"), user("bob", "1")]);
  const changes: string[][] = [];
  const removeListener = users.onChange((names) => {
    changes.push([...names].sort());
    expect(users.find("ann")?.hash).toBe("2");
  });
  users.replace([user("ann", "2"), user("cy", "1")]);
  expect(changes).toEqual([["ann", "bob"]]);
  expect(users.all().map(({ name }) => name)).toEqual(["ann", "cy"]);
  removeListener();
  users.replace([]);
  expect(changes).toHaveLength(1);
  expect(users.find("ann")).toBeUndefined();
});
