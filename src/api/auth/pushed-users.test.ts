import { expect, test } from "bun:test";
import { PushedUsers } from "./pushed-users.ts";

const user = (name: string, hash: string) => ({ name, hash, credentialId: `${name}:${hash}` });

test("who changed or is gone is named, who came is not, and new requests see the new ones", () => {
  const users = new PushedUsers([user("ann", "1"), user("bob", "1")]);
  const told: string[][] = [];
  const end = users.onChange((names) => {
    told.push([...names].sort());
    expect(users.find("ann")?.hash).toBe("2");
  });
  users.adopt([user("ann", "2"), user("cy", "1")]);
  expect(told).toEqual([["ann", "bob"]]);
  expect(users.all().map(({ name }) => name)).toEqual(["ann", "cy"]);
  end();
  users.adopt([]);
  expect(told).toHaveLength(1);
  expect(users.find("ann")).toBeUndefined();
});
