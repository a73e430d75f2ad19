import { describe, expect, test } from "bun:test";
import Type from "typebox";
import { secretOptions } from "../sources/secret.ts";
import { hideSecrets } from "./show.ts";

const Options = Type.Object({
  ...secretOptions("community", "The community."),
  pin: Type.String({ secret: true }),
  environment: Type.Record(Type.String(), Type.String(), { secret: true }),
  v3: Type.Object({ ...secretOptions("authPassword", "The password.") }),
  targets: Type.Array(Type.Union([Type.String(), Type.Object({ pin: Type.String({ secret: true }) })])),
});

describe("with the schema of a source", () => {
  const cases: [unknown, unknown][] = [
    [{ pin: "1234" }, { pin: "(hidden)" }],
    [{ pin: ["12", { a: "34" }] }, { pin: "(hidden)" }],
    [{ environment: { A: "x" } }, { environment: "(hidden)" }],
    [{ v3: { authPassword: "x", user: "ann" } }, { v3: { authPassword: "(hidden)", user: "ann" } }],
    [{ targets: ["a", { pin: "1" }] }, { targets: ["a", { pin: "(hidden)" }] }],
    [{ communityFile: "./c" }, { communityFile: "./c" }],
    [{ communityEnv: "C_1" }, { communityEnv: "C_1" }],
    [{ communityEnv: "not a name" }, { communityEnv: "(hidden)" }],
  ];
  for (const [value, shown] of cases) {
    test(JSON.stringify(value), () => expect(hideSecrets(value, Options)).toEqual(shown));
  }
});

describe("without a schema, by the name of the key and the form of the value", () => {
  const cases: [unknown, unknown][] = [
    [{ pin: "1234" }, { pin: "1234" }],
    [
      { comunity: "x", snmpCommunity: "x" },
      { comunity: "x", snmpCommunity: "(hidden)" },
    ],
    [{ a: { privPassphrase: { b: "x" } } }, { a: { privPassphrase: "(hidden)" } }],
    [
      { passwordFile: "f", tokenEnv: "T", tokenEnvironment: "T" },
      { passwordFile: "f", tokenEnv: "T", tokenEnvironment: "(hidden)" },
    ],
    ["http://u:p@h/x", "http://u:(hidden)@h/x"],
    ["http://u:p@p/@h/x", "http://u:(hidden)@h/x"],
    ["https://token@h/", "https://(hidden)@h/"],
    ["http://h:80/x", "http://h:80/x"],
    ["a:b@c", "a:b@c"],
    ["http://h/n?site=1&api_key=x&Token=y#z", "http://h/n?site=1&api_key=(hidden)&Token=(hidden)#z"],
  ];
  for (const [value, shown] of cases) {
    test(JSON.stringify(value), () => expect(hideSecrets(value)).toEqual(shown));
  }
});
