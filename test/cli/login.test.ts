/** `gazetteer login` and `servers` against running services: what is stored, which service is read, who gets the password. */
import { beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { GAZETTEER, type Service, startService } from "../support/service.ts";

let lab: Service;
let prod: Service;
beforeAll(async () => {
  const args = (devices: number) => ["--data", ":memory:", "--demo", `devices=${devices},hosts=0,churn=0`];
  [lab, prod] = await Promise.all([
    startService({ args: args(3), credentials: "ann:la:b ä" }),
    startService({ args: args(5), credentials: "bob:prod" }),
  ]);
});

/** A user with an own configuration folder. */
function createUser() {
  const configHome = temporaryFolder();
  const env = { XDG_CONFIG_HOME: configHome };
  return {
    file: join(configHome, "gazetteer", "servers.json"),
    run: (args: string[], options: { env?: Record<string, string>; stdin?: string } = {}) =>
      runCommand(args, { ...options, env: { ...env, ...options.env } }),
    env,
  };
}
type User = ReturnType<typeof createUser>;

const login = (user: User, service: Service, ...flags: string[]) => {
  const [name = "", ...password] = service.credentials.split(":");
  return user.run(["login", service.url, "--user", name, ...flags], { stdin: `${password.join(":")}\n` });
};
/** The services have different numbers of devices. */
const devicesRead = async (user: User, args: string[] = [], env: Record<string, string> = {}) => {
  const { status, stdout, stderr } = await user.run(["get", "devices", "-o", "name", ...args], { env });
  return status === 0 ? stdout.trimEnd().split("\n").length : stderr;
};

describe("login", () => {
  test("verifies, stores with mode 0600, and later commands use it", async () => {
    const user = createUser();
    const { status, stdout, stderr } = await login(user, lab);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toBe(
      `logged in to ${lab.url} as ann; stored as the current server, ${new URL(lab.url).host}\n${user.file}\n`,
    );
    expect(statSync(user.file).mode & 0o777).toBe(0o600);
    expect(statSync(join(user.file, "..")).mode & 0o777).toBe(0o700);
    expect(await devicesRead(user)).toBe(3);
    expect((await user.run(["diff", "0"])).status).toBe(0);
  });

  test("without XDG_CONFIG_HOME, or with a relative one, the file is in ~/.config", async () => {
    for (const configHome of ["", "relative"]) {
      const home = temporaryFolder();
      const env = { XDG_CONFIG_HOME: configHome, HOME: home };
      const result = await runCommand(["login", lab.url, "--user", "ann"], { env, stdin: "la:b ä\n" });
      expect(result.stderr).toBe("");
      expect(existsSync(join(home, ".config", "gazetteer", "servers.json"))).toBe(true);
    }
  });

  test("the file is made private again, and a symbolic link to it stays", async () => {
    const user = createUser();
    const target = join(temporaryFolder(), "kept.json");
    writeFileSync(target, '{"servers":{}}');
    chmodSync(target, 0o644);
    mkdirSync(join(user.file, ".."));
    symlinkSync(target, user.file);
    expect((await login(user, lab)).status).toBe(0);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readFileSync(target, "utf8")).toContain(lab.url);
  });

  test("takes the user and password from the URL or from GAZETTEER_CREDENTIALS", async () => {
    const { host } = new URL(prod.url);
    const [first, second] = [createUser(), createUser()];
    expect((await first.run(["login", `http://bob:prod@${host}`])).status).toBe(0);
    expect(readFileSync(first.file, "utf8")).not.toContain("bob:prod@");
    expect((await second.run(["login", host], { env: { GAZETTEER_CREDENTIALS: "bob:prod" } })).status).toBe(
      0,
    );
    for (const user of [first, second]) expect(await devicesRead(user)).toBe(5);
  });

  test("prompts for the user and the password on a terminal, and does not echo the password", async () => {
    const user = createUser();
    const inputs = ["annn\u007f\r", "la:b ä\r"];
    let screen = "";
    const child = Bun.spawn([GAZETTEER, "login", lab.url], {
      env: { ...process.env, ...user.env, GAZETTEER_CREDENTIALS: undefined },
      terminal: {
        cols: 200,
        data: (terminal, bytes) => {
          screen += new TextDecoder().decode(bytes);
          if (/(User|Password): $/.test(screen)) terminal.write(inputs.shift() ?? "");
        },
      },
    });
    expect(await child.exited).toBe(0);
    child.terminal?.close();
    expect(screen).toContain("User: ann");
    expect(screen).not.toContain("la:b");
    expect(await devicesRead(user)).toBe(3);
  });

  test("to another machine over plain HTTP: asks first on a terminal, and is refused elsewhere without --allow-plaintext", async () => {
    // Not a loopback address by its text, and still this machine.
    const url = lab.url.replace("127.0.0.1", "0.0.0.0");
    const args = ["login", url, "--user", "ann"];
    const user = createUser();
    const refused = await user.run(args, { stdin: "la:b ä\n" });
    expect([refused.status, refused.stderr]).toEqual([
      2,
      `gazetteer login: ${new URL(url).host} is another machine, and the password would be sent to it unencrypted; use https://, or give --allow-plaintext\n`,
    ]);
    const answered = async (answer: string) => {
      const inputs = [`${answer}\r`, "la:b ä\r"];
      let screen = "";
      const child = Bun.spawn([GAZETTEER, ...args], {
        env: { ...process.env, ...user.env, GAZETTEER_CREDENTIALS: undefined },
        terminal: {
          cols: 200,
          data: (terminal, bytes) => {
            screen += new TextDecoder().decode(bytes);
            if (/(\[y\/N\]|Password:) $/.test(screen)) terminal.write(inputs.shift() ?? "");
          },
        },
      });
      const status = await child.exited;
      child.terminal?.close();
      return { status, screen };
    };
    const declined = await answered("");
    expect(declined.status).toBe(1);
    expect(declined.screen).toContain("unencrypted. Send it? [y/N] ");
    expect(declined.screen).not.toContain("Password: ");
    expect(existsSync(user.file)).toBe(false);
    expect((await answered("y")).status).toBe(0);
    expect((await user.run([...args, "--allow-plaintext"], { stdin: "la:b ä\n" })).status).toBe(0);
  });

  test("stores nothing when it fails, and says what to do", async () => {
    const user = createUser();
    const failures: [args: string[], stdin: string, status: number, message: string][] = [
      [[lab.url, "--user", "ann"], "wrong\n", 1, "check the user name and the password; nothing was stored"],
      [
        ["http://127.0.0.1:1", "--user", "ann"],
        "x\n",
        1,
        "is the service running there? Start it, or correct the URL",
      ],
      [[], "", 2, "wants one URL"],
      [[lab.url], "x\n", 2, "wants --user NAME, and the password on standard input"],
      [["ftp://host", "--user", "ann"], "x\n", 2, 'URL "ftp://host" is not an http or https address'],
      [[lab.url, "--user", "a:b"], "x\n", 2, "a user name may not contain a colon"],
    ];
    for (const [args, stdin, status, message] of failures) {
      const result = await user.run(["login", ...args], { stdin });
      expect(result.status).toBe(status);
      expect(result.stderr).toContain(message);
      expect(result.stderr.trimEnd().split("\n")).toHaveLength(1);
    }
    expect(existsSync(user.file)).toBe(false);
  });

  test("something that is not a Gazetteer is not stored", async () => {
    using other = Bun.serve({ port: 0, fetch: () => Response.json({ hello: "world" }) });
    const user = createUser();
    const result = await user.run(["login", `http://127.0.0.1:${other.port}`, "--user", "a"], {
      stdin: "b\n",
    });
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("is not a Gazetteer; nothing was stored");
    expect(existsSync(user.file)).toBe(false);
  });
});

describe("which service", () => {
  test("--url, --server, GAZETTEER_URL, the current server, in this order", async () => {
    const user = createUser();
    await login(user, prod, "--name", "prod");
    await login(user, lab, "--name", "lab");
    const env = { GAZETTEER_URL: prod.url };
    expect(await devicesRead(user)).toBe(3);
    expect(await devicesRead(user, [], env)).toBe(5);
    expect(await devicesRead(user, ["--server", "lab"], env)).toBe(3);
    expect(await devicesRead(user, ["--server", "prod"])).toBe(5);
    expect(await devicesRead(user, ["--server", "lab", "--url", prod.url])).toBe(5);
    expect(await devicesRead(user, ["--server", "labb"])).toContain(
      'there is no server "labb"; did you mean lab?',
    );
  });

  test("a stored password is sent only to its own scheme, host and port", async () => {
    const received: (string | null)[] = [];
    const answer = (request: Request) => {
      received.push(request.headers.get("authorization"));
      return new Response("{}", { status: 401 });
    };
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    // The stored service sends everybody on to the other one: the password must not follow.
    let redirects = false;
    using stored = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        redirects
          ? Response.redirect(`http://127.0.0.1:${other.port}/controller/v1/devices`)
          : Response.json({ devices: 1, links: 0, hosts: 0, clusters: 1, time: 0 }),
    });
    const user = createUser();
    const url = `http://127.0.0.1:${stored.port}`;
    expect((await user.run(["login", url, "--user", "a"], { stdin: "b\n" })).status).toBe(0);
    const elsewhere = `http://127.0.0.1:${other.port}`;
    for (const [args, env] of [
      [["--url", elsewhere], {}],
      [[], { GAZETTEER_URL: elsewhere }],
      [["--url", `http://localhost:${other.port}`], {}],
    ] as const) {
      const { status, stderr } = await user.run(["get", "devices", ...args], { env });
      expect(status).toBe(1);
      expect(stderr).toContain("gazetteer login http://");
    }
    expect(received).toEqual([null, null, null]);
    redirects = true;
    expect((await user.run(["get", "devices"])).status).toBe(1);
    expect(received).toEqual([null, null, null]);
  });

  test("a stored password is sent to another path of its origin", async () => {
    const user = createUser();
    await login(user, lab);
    expect(await devicesRead(user, ["--url", `${lab.url}/controller/v1`])).toBe(3);
  });

  test("GAZETTEER_CREDENTIALS come before a stored password", async () => {
    const user = createUser();
    await login(user, lab);
    expect(await devicesRead(user, [], { GAZETTEER_CREDENTIALS: "ann:wrong" })).toContain(
      "correct GAZETTEER_CREDENTIALS, or unset it and run gazetteer login",
    );
  });

  test("a stored password that is not valid any more is named as the cause", async () => {
    const user = createUser();
    await login(user, lab);
    writeFileSync(user.file, readFileSync(user.file, "utf8").replace("la:b ä", "old"));
    expect(await devicesRead(user)).toContain(
      `the stored password is not valid any more; run gazetteer login ${lab.url} again`,
    );
  });

  test("a broken file is named, and is no obstacle where it is not needed", async () => {
    const user = createUser();
    mkdirSync(join(user.file, ".."));
    for (const text of ["", "[]", '{"servers":{"a":{}}}', '{"servers":{"a":{"url":1}}}']) {
      writeFileSync(user.file, text);
      const { status, stderr } = await user.run(["get", "topology"]);
      expect(status).toBe(2);
      expect(stderr).toContain(`${user.file} is not a file of servers`);
    }
    const env = { GAZETTEER_CREDENTIALS: lab.credentials };
    expect(await devicesRead(user, ["--url", lab.url], env)).toBe(3);
  });
});

test("servers lists without passwords, selects and removes", async () => {
  const user = createUser();
  expect((await user.run(["servers"])).stdout).toBe("NAME  URL  USER  CURRENT\n");
  await login(user, prod, "--name", "prod");
  await login(user, lab, "--name", "lab");
  const { stdout } = await user.run(["servers"]);
  expect(stdout.split("\n").map((line) => line.split(/ +/))).toEqual([
    ["NAME", "URL", "USER", "CURRENT"],
    ["prod", prod.url, "bob", "no"],
    ["lab", lab.url, "ann", "yes"],
    [""],
  ]);
  expect((await user.run(["servers", "use", "prod"])).stdout).toBe("prod is the current server\n");
  expect(await devicesRead(user)).toBe(5);
  expect((await user.run(["servers", "remove", "prod"])).stdout).toBe("prod is removed\n");
  expect(readFileSync(user.file, "utf8")).not.toContain("bob");
  expect((await user.run(["servers", "--no-headers"])).stdout).toMatch(/^lab .* no\n$/);
  const refused = await user.run(["servers", "use", "prod"]);
  expect(refused).toMatchObject({ status: 2, stdout: "" });
  expect((await user.run(["servers", "rename", "lab"])).status).toBe(2);
});
