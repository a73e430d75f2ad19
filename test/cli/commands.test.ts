/** The commands that need no running service, as a person or a script calls them. */
import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { GAZETTEER, runCommand } from "../support/service.ts";

describe("help and usage", () => {
  test("without arguments: the commands, on standard error, status 2", async () => {
    const { status, stdout, stderr } = await runCommand([]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    for (const name of ["serve", "get", "passwd", "check", "version"])
      expect(stderr).toContain(`\n  ${name}`);
  });

  for (const args of [["help"], ["--help"], ["help", "serve"], ["serve", "--help"], ["get", "-h"]]) {
    test(`${args.join(" ")} is no failure`, async () => {
      const { status, stdout, stderr } = await runCommand(args);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain("usage: gazetteer");
    });
  }

  test("version", async () => {
    const { status, stdout } = await runCommand(["version"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^gazetteer \d+\.\d+\.\d+ /);
    expect((await runCommand(["--version"])).stdout).toBe(stdout);
  });

  const refused: [args: string[], message: string][] = [
    [["srve"], 'gazetteer: there is no command "srve"; did you mean serve?\n'],
    [["serve", "--prot", "1"], "gazetteer serve: unknown flag --prot, did you mean --port?\n"],
    [["serve", "--port", "x"], "gazetteer serve: --port must be a whole number from 0 to 65535\n"],
    [
      ["serve", "--demo", "device=3"],
      "gazetteer serve: --demo: device is not an option, did you mean devices?\n",
    ],
    [["serve", "extra"], 'gazetteer serve: wants no "extra"\n'],
    [["get", "device"], 'gazetteer get: there is no "device"; did you mean devices?\n'],
    [["get", "devices", "oops"], 'gazetteer get: "oops" is not NAME=VALUE\n'],
    [["get", "devices", "-o", "svg"], "gazetteer get: -o svg: of devices there is "],
    [["passwd", "file"], "gazetteer passwd: wants USERSFILE NAME\n"],
    [["passwd", "file", "a:b"], "gazetteer passwd: a user name may not contain a colon\n"],
    [["check"], "gazetteer check: wants one CONFIGFILE\n"],
  ];
  for (const [args, message] of refused) {
    test(`${args.join(" ")} is one line and status 2`, async () => {
      const { status, stdout, stderr } = await runCommand(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toStartWith(message);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    });
  }
});

test("runs from another folder and through a chain of symbolic links", async () => {
  const folder = temporaryFolder();
  symlinkSync(GAZETTEER, join(folder, "first"));
  symlinkSync("first", join(folder, "second"));
  // What lies in that folder must not reach the runtime.
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./intruder.ts"]\n');
  writeFileSync(join(folder, "intruder.ts"), 'console.log("intruder");\n');
  const child = Bun.spawn([join(folder, "second"), "version"], { cwd: folder, stdout: "pipe" });
  expect(await new Response(child.stdout).text()).toMatch(/^gazetteer /);
  expect(await child.exited).toBe(0);
});

describe("check", () => {
  const file = (text: string) => {
    const path = join(temporaryFolder(), "gazetteer.yaml");
    writeFileSync(path, text);
    return path;
  };

  test("ok", async () => {
    const path = file("port: 0\nsources:\n  - { type: demo, devices: 5 }\n");
    expect(await runCommand(["check", path])).toEqual({ status: 0, stdout: `${path}: ok\n`, stderr: "" });
  });

  test("every fault, with its line", async () => {
    const path = file("prot: 0\nlimits:\n  pageLimit: none\n");
    const { status, stderr } = await runCommand(["check", path]);
    expect(status).toBe(2);
    expect(stderr).toBe(
      `${path}:1: prot: unknown key; did you mean port?\n` +
        `${path}:3: limits.pageLimit: must be a whole number from 1 to 1000000\n`,
    );
  });

  test("what a source has against its entry", async () => {
    const path = file("sources:\n  - type: demo\n    devises: 5\n  - type: dmeo\n");
    const { status, stderr } = await runCommand(["check", path]);
    expect(status).toBe(2);
    expect(stderr.split("\n").map((line) => line.replace(path, "F"))).toEqual([
      "F:3: sources[0].devises: is not an option, did you mean devices?",
      "F:4: sources[1].type: dmeo is not a kind of source, did you mean demo?",
      "",
    ]);
  });

  test("a file that is not there", async () => {
    const { status, stderr } = await runCommand(["check", join(temporaryFolder(), "none.yaml")]);
    expect(status).toBe(2);
    expect(stderr).toStartWith("gazetteer check: the configuration cannot be read: ENOENT");
  });
});

describe("passwd", () => {
  const users = () => join(temporaryFolder(), "users");
  const accepts = (path: string, name: string, password: string) => {
    const line =
      readFileSync(path, "utf8")
        .split("\n")
        .find((one) => one.startsWith(`${name}:`)) ?? "";
    return Bun.password.verify(password, line.slice(name.length + 1));
  };

  test("one line of standard input; adds, then replaces", async () => {
    const path = users();
    const first = await runCommand(["passwd", path, "ann"], { stdin: "s:e cret ä\nignored\n" });
    expect(first).toEqual({ status: 0, stdout: `${path}: added ann\n`, stderr: "" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toStartWith("ann:$argon2id$");
    expect(await accepts(path, "ann", "s:e cret ä")).toBe(true);
    const second = await runCommand(["passwd", path, "ann"], { stdin: "other" });
    expect(second.stdout).toBe(`${path}: ann has a new password\n`);
    expect(await accepts(path, "ann", "other")).toBe(true);
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(1);
  });

  test("refuses an empty password, control characters, a broken file and a folder it cannot write", async () => {
    const path = users();
    for (const [stdin, message] of [
      ["\n", "a password may not be empty"],
      ["a\u0007b\n", "a password may not contain control characters"],
    ]) {
      const { status, stderr } = await runCommand(["passwd", path, "ann"], { stdin: stdin ?? "" });
      expect(status).toBe(2);
      expect(stderr).toContain(message ?? "");
    }
    writeFileSync(path, "ann:plain\n");
    expect((await runCommand(["passwd", path, "bob"], { stdin: "x\n" })).stderr).toContain(
      `${path}:1: not an argon2id`,
    );
    expect(readFileSync(path, "utf8")).toBe("ann:plain\n");
    const nowhere = join(path, "below", "users");
    expect((await runCommand(["passwd", nowhere, "bob"], { stdin: "x\n" })).status).toBe(2);
  });

  /** A person at a terminal: each answer is sent in the moment in which its prompt appears, not a poll later. */
  async function typed(
    path: string,
    answers: readonly string[],
  ): Promise<{ status: number; screen: string }> {
    const prompts = ["New password for ann: ", "The same again: "];
    let screen = "";
    let sent = 0;
    const child = Bun.spawn([GAZETTEER, "passwd", path, "ann"], {
      terminal: {
        data: (terminal, bytes) => {
          screen += new TextDecoder().decode(bytes);
          const [prompt, answer] = [prompts[sent], answers[sent]];
          if (prompt === undefined || answer === undefined || !screen.endsWith(prompt)) return;
          sent++;
          terminal.write(answer);
        },
      },
    });
    const status = await child.exited;
    child.terminal?.close();
    return { status, screen };
  }

  test("asks twice on a terminal and shows nothing of it", async () => {
    const path = users();
    const { status, screen } = await typed(path, ["secxx\u007f\u007fret\r", "secret\r"]);
    expect(status).toBe(0);
    expect(screen).not.toContain("sec");
    expect(await accepts(path, "ann", "secret")).toBe(true);
  });

  test("changes nothing when the two differ, or on Ctrl-C", async () => {
    const path = users();
    expect((await typed(path, ["one\r", "two\r"])).status).toBe(2);
    expect((await typed(path, ["one\u0003"])).status).toBe(1);
    expect((await typed(path, ["one\r", "one\u0003"])).status).toBe(1);
    expect(() => statSync(path)).toThrow();
  });
});
