/** The commands that need no running service. */
import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { GAZETTEER } from "../support/service.ts";

describe("help and usage", () => {
  test("without arguments it lists the commands on standard error, with status 2", async () => {
    const { status, stdout, stderr } = await runCommand([]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    for (const name of ["serve", "get", "passwd", "check", "version"])
      expect(stderr).toContain(`\n  ${name}`);
  });

  for (const args of [["help"], ["--help"], ["help", "serve"], ["serve", "--help"], ["get", "-h"]]) {
    test(`${args.join(" ")} exits with status 0`, async () => {
      const { status, stdout, stderr } = await runCommand(args);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain("usage: gazetteer");
    });
  }

  test("version prints the version", async () => {
    const { status, stdout } = await runCommand(["version"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^gazetteer \d+\.\d+\.\d+ /);
    expect((await runCommand(["--version"])).stdout).toBe(stdout);
  });

  const refused: [args: string[], message: string][] = [
    [["srve"], 'gazetteer: there is no command "srve"; did you mean serve?\n'],
    [["serve", "--prot", "1"], "gazetteer serve: unknown flag --prot, did you mean --port?\n"],
    [["serve", "--port", "x"], "gazetteer serve: --port: must be a whole number from 0 to 65535\n"],
    [
      ["serve", "--demo", "device=3"],
      "gazetteer serve: --demo: device: unknown key; did you mean devices?\n",
    ],
    [["serve", "extra"], 'gazetteer serve: wants no "extra"\n'],
    [["get", "device"], 'gazetteer get: there is no "device"; did you mean devices?\n'],
    [["get", "devices", "type=OLT", "oops"], 'gazetteer get: "oops" is not NAME=VALUE\n'],
    [["get", "devices", "-o", "svg"], "gazetteer get: -o svg: of devices there is "],
    [["get", "links", "-o", "ansible"], "gazetteer get: -o ansible: of links there is "],
    [
      ["get", "devices", "of:1", "ports", "-o", "ansible"],
      "gazetteer get: -o ansible: of devices/of%3A1/ports there is ",
    ],
    [
      ["get", "devices", "fields=id", "-o", "ansible"],
      "gazetteer get: -o ansible and fields= cannot be combined\n",
    ],
    [["passwd", "file"], "gazetteer passwd: wants USERSFILE NAME\n"],
    [["passwd", "file", "a:b"], "gazetteer passwd: a user name may not contain a colon\n"],
    [
      ["serve", "--openflow", "nowhere"],
      "gazetteer serve: --openflow: listen: must be [HOST:]PORT, such as 6653 or 0.0.0.0:6653\n",
    ],
    [["check", "a", "b"], "gazetteer check: wants one CONFIGFILE\n"],
  ];
  for (const [args, message] of refused) {
    test(`${args.join(" ")} prints one line and exits with status 2`, async () => {
      const { status, stdout, stderr } = await runCommand(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toStartWith(message);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    });
  }
});

test.skipIf(process.platform !== "linux")(
  "leaves the standard streams blocking for the next program",
  async () => {
    const script = '"$0" version; "$0" srve; cat /proc/self/fdinfo/0 /proc/self/fdinfo/1 /proc/self/fdinfo/2';
    const child = Bun.spawn(["sh", "-c", script, GAZETTEER], { stdio: ["pipe", "pipe", "pipe"] });
    const output = await new Response(child.stdout).text();
    const flags = [...output.matchAll(/^flags:\s*(\d+)$/gm)].map(([, octal = ""]) =>
      Number.parseInt(octal, 8),
    );
    expect(flags.map((value) => value & 0o4000)).toEqual([0, 0, 0]);
  },
);

test("runs from another folder and through a chain of symbolic links", async () => {
  const folder = temporaryFolder();
  symlinkSync(GAZETTEER, join(folder, "first"));
  symlinkSync("first", join(folder, "second"));
  // Files in the working directory must not configure the runtime.
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

  test("a valid file is ok", async () => {
    const path = file("port: 0\nsources:\n  - { type: demo, devices: 5 }\n");
    expect(await runCommand(["check", path])).toEqual({ status: 0, stdout: `${path}: ok\n`, stderr: "" });
  });

  test("lists every fault with its line", async () => {
    const path = file("prot: 0\nlimits:\n  pageLimit: none\n");
    const { status, stderr } = await runCommand(["check", path]);
    expect(status).toBe(2);
    expect(stderr).toBe(
      `${path}:1:1: prot: unknown key; did you mean port?\n` +
        `${path}:3:14: limits.pageLimit: must be a whole number from 1 to 1000000\n`,
    );
  });

  test("lists faults in the options of sources", async () => {
    const path = file("sources:\n  - type: demo\n    devises: 5\n  - type: dmeo\n");
    const { status, stderr } = await runCommand(["check", path]);
    expect(status).toBe(2);
    expect(stderr.split("\n").map((line) => line.replace(path, "F"))).toEqual([
      "F:3:5: sources[0].devises: unknown key; did you mean devices?",
      "F:4:11: sources[1].type: dmeo is not a kind of source; did you mean demo?",
      "",
    ]);
  });

  test("a missing file is reported", async () => {
    const { status, stderr } = await runCommand(["check", join(temporaryFolder(), "none.yaml")]);
    expect(status).toBe(2);
    expect(stderr).toStartWith("the configuration cannot be read: ENOENT");
  });
});

describe("passwd", () => {
  const users = () => join(temporaryFolder(), "users");
  const verify = (path: string, name: string, password: string) => {
    const line =
      readFileSync(path, "utf8")
        .split("\n")
        .find((candidate) => candidate.startsWith(`${name}:`)) ?? "";
    return Bun.password.verify(password, line.slice(name.length + 1));
  };

  test("reads one line of standard input; adds a user, then replaces the password", async () => {
    const path = users();
    const first = await runCommand(["passwd", path, "ann"], { stdin: "s:e cret ä\nignored\n" });
    expect(first).toEqual({ status: 0, stdout: `${path}: added ann\n`, stderr: "" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toStartWith("ann:$argon2id$");
    expect(await verify(path, "ann", "s:e cret ä")).toBe(true);
    const second = await runCommand(["passwd", path, "ann"], { stdin: "other" });
    expect(second.stdout).toBe(`${path}: ann has a new password\n`);
    expect(await verify(path, "ann", "other")).toBe(true);
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
      `${path}:1:5: not an argon2id`,
    );
    expect(readFileSync(path, "utf8")).toBe("ann:plain\n");
    const unwritable = join(path, "below", "users");
    expect((await runCommand(["passwd", unwritable, "bob"], { stdin: "x\n" })).status).toBe(2);
  });

  /** Runs passwd on a terminal. Each line is typed as soon as its prompt appears. */
  async function runOnTerminal(
    path: string,
    inputs: readonly string[],
  ): Promise<{ status: number; screen: string }> {
    const prompts = ["New password for ann: ", "The same again: "];
    let screen = "";
    let sent = 0;
    const child = Bun.spawn([GAZETTEER, "passwd", path, "ann"], {
      terminal: {
        data: (terminal, bytes) => {
          screen += new TextDecoder().decode(bytes);
          const [prompt, input] = [prompts[sent], inputs[sent]];
          if (prompt === undefined || input === undefined || !screen.endsWith(prompt)) return;
          sent++;
          terminal.write(input);
        },
      },
    });
    const status = await child.exited;
    child.terminal?.close();
    return { status, screen };
  }

  test("prompts twice on a terminal and does not echo the password", async () => {
    const path = users();
    const { status, screen } = await runOnTerminal(path, ["secxx\u007f\u007fret\r", "secret\r"]);
    expect(status).toBe(0);
    expect(screen).not.toContain("sec");
    expect(await verify(path, "ann", "secret")).toBe(true);
  });

  test("changes nothing when the two passwords differ, or on Ctrl-C", async () => {
    const path = users();
    expect((await runOnTerminal(path, ["one\r", "two\r"])).status).toBe(2);
    expect((await runOnTerminal(path, ["one\u0003"])).status).toBe(1);
    expect((await runOnTerminal(path, ["one\r", "one\u0003"])).status).toBe(1);
    expect(() => statSync(path)).toThrow();
  });
});
