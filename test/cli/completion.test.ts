/** The completion scripts, in the shells that they are for: what Tab offers after a beginning of a command line. */
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];
const scripts = new Map<Shell, string>();
/** With a file, a file whose name has a space, and a folder. */
const folder = temporaryFolder();

beforeAll(async () => {
  for (const shell of SHELLS) {
    const { status, stdout, stderr } = await runCommand(["completion", shell]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const path = join(folder, `script.${shell}`);
    writeFileSync(path, stdout);
    scripts.set(shell, path);
  }
  writeFileSync(join(folder, "network.yaml"), "");
  writeFileSync(join(folder, "network two.yaml"), "");
  mkdirSync(join(folder, "network-data"));
});

async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect(stderr).toBe("");
  return stdout;
}

/** The last word is the one that is completed. */
async function completeInBash(...words: string[]): Promise<string[]> {
  const program = `source "$1"; shift; COMP_WORDS=(gazetteer "$@"); COMP_CWORD=$#
    compopt() { :; }; _gazetteer; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = await run(["bash", "--norc", "-c", program, "bash", scripts.get("bash") ?? "", ...words]);
  return lines(text);
}

/** fish prints what Tab would offer, each with its description. */
async function completeInFish(...words: string[]): Promise<string[]> {
  const program = `source $argv[1]; complete -C "gazetteer $argv[2]"`;
  const text = await run(["fish", "--no-config", "-c", program, scripts.get("fish") ?? "", words.join(" ")]);
  return lines(text).map((line) => line.split("\t")[0] ?? "");
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const complete = { bash: completeInBash, fish: completeInFish };

for (const shell of ["bash", "fish"] as const) {
  describe.skipIf(!needs(shell))(shell, () => {
    const words = (...typed: string[]) => complete[shell](...typed);

    test("offers every command of the table", async () => {
      expect((await words("")).sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
      expect((await words("ser")).sort()).toEqual(["serve", "servers"]);
    });

    test("offers every long flag of every command", async () => {
      for (const { name, flags } of COMMANDS) {
        const offered = await words(name, "--");
        for (const flag of flags) expect(offered).toContain(`--${flag.name}`);
        expect(offered).toContain("--help");
      }
    });

    test("offers the values of a flag, also after its short name and an equals sign", async () => {
      expect(await words("get", "devices", "-o", "w")).toEqual(["wide"]);
      expect(await words("get", "--output", "gr")).toEqual(["graphml"]);
      if (shell === "bash") expect(await words("get", "--output", "=", "ya")).toEqual(["yaml"]);
      else expect(await words("get", "--output=ya")).toEqual(["--output=yaml"]);
      expect(await words("get", "--url", "d")).toEqual([]);
    });

    test("offers resources, commands and shells as operands", async () => {
      expect((await words("get", "")).sort()).toEqual(["devices", "hosts", "links", "topology"]);
      expect(await words("help", "ver")).toEqual(["version"]);
      expect((await words("completion", "")).sort()).toEqual(["bash", "fish", "zsh"]);
      expect((await words("servers", "")).sort()).toEqual(["remove", "use"]);
    });

    test("offers files and folders where the usage names one", async () => {
      const unquoted = (name: string) => name.replaceAll("\\ ", " ");
      const files = (await words("serve", "--file", "netw")).map(unquoted);
      expect(files).toContain("network.yaml");
      expect(files).toContain("network two.yaml");
      expect((await words("check", "network.")).map(unquoted)).toContain("network.yaml");
      expect((await words("serve", "--data", "network")).map((name) => name.replace(/\/$/, ""))).toEqual([
        "network-data",
      ]);
    });

    test("a flag may follow a flag without its optional value", async () => {
      expect(await words("serve", "--demo", "--por")).toEqual(["--port"]);
    });
  });
}

test("bash registers the completion of gazetteer", async () => {
  const text = await run([
    "bash",
    "--norc",
    "-c",
    `source "$1"; complete -p gazetteer`,
    "bash",
    scripts.get("bash") ?? "",
  ]);
  expect(text).toBe("complete -F _gazetteer gazetteer\n");
});

describe.skipIf(!needs("zsh"))("zsh", () => {
  test("the script is valid zsh", async () => {
    expect(await run(["zsh", "-f", "-n", scripts.get("zsh") ?? ""])).toBe("");
  });

  /**
   * Types each text and Tab into one interactive zsh, and returns the arguments of the completed command lines.
   * `gazetteer` is a function there that prints its arguments.
   */
  async function completeInZsh(typed: readonly string[]): Promise<string[]> {
    const setup = [
      "autoload -Uz compinit; compinit -D -u",
      `source '${scripts.get("zsh")}'`,
      `gazetteer() { print -r -- "<$*>"; }`,
      "print -r -- <rea''dy>",
    ];
    const inputs = [`${setup.join("\n").replace("<rea''dy>", "'<rea''dy>'")}\n`];
    inputs.push(...typed.map((text) => `gazetteer ${text}\t\n`), "exit\n");
    let [screen, sent] = ["", 0];
    const printed = () => [...screen.matchAll(/^<(.*)>\r?$/gm)].map(([, text = ""]) => text.trim());
    const child = Bun.spawn(["zsh", "-f", "-i"], {
      cwd: folder,
      env: { ...process.env, TERM: "dumb", PS1: "" },
      timeout: 60_000,
      terminal: {
        cols: 500,
        data: (terminal, bytes) => {
          screen += new TextDecoder().decode(bytes);
          // The first input when the shell has started, each other one when the line before it was printed.
          const input = printed().length >= sent ? inputs[sent] : undefined;
          if (input === undefined) return;
          sent++;
          terminal.write(input);
        },
      },
    });
    await child.exited;
    child.terminal?.close();
    return printed().slice(1);
  }

  test("completes commands, flags, their values, operands and files", async () => {
    const cases: [typed: string, completed: string][] = [
      ["vers", "version"],
      ["get dev", "get devices"],
      ["get devices -o wi", "get devices -o wide"],
      ["get devices --output=ya", "get devices --output=yaml"],
      ["get --no-h", "get --no-headers"],
      ["help pas", "help passwd"],
      ["completion fi", "completion fish"],
      ["serve --config network.", "serve --config network.yaml"],
      ["serve --data network", "serve --data network-data"],
      ["serve --host h --por", "serve --host h --port"],
      ["serve --demo --por", "serve --demo --port"],
    ];
    expect(await completeInZsh(cases.map(([typed]) => typed))).toEqual(
      cases.map(([, completed]) => completed),
    );
  });
});

test.each([[], ["tcsh"], ["bash", "zsh"]])("completion %p is refused", async (...args) => {
  const { status, stderr } = await runCommand(["completion", ...args]);
  expect(status).toBe(2);
  expect(stderr).toBe("gazetteer completion: wants one of bash, zsh, fish\n");
});
