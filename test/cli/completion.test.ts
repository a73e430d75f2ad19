/** What Tab offers after a beginning of a command line: by the table of commands, and in the shells. */
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMANDS } from "../../src/cli/commands.ts";
import { completionOf } from "../../src/cli/completion.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { GAZETTEER } from "../support/service.ts";

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

/** The scripts call the program as it was typed. */
const env = { ...process.env, PATH: `${dirname(GAZETTEER)}:${process.env.PATH}` };

async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
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

describe("what may follow", () => {
  const offered = (...typed: string[]) => completionOf(COMMANDS, typed);
  const words = (...typed: string[]) => offered(...typed).words.map(({ word }) => word);

  test("every command of the table", () => {
    expect(words("")).toEqual(COMMANDS.map(({ name }) => name));
    expect(words("ser")).toEqual(["serve", "servers"]);
    expect(words("nonsense", "")).toEqual([]);
  });

  test("every flag of every command", () => {
    for (const { name, flags } of COMMANDS)
      for (const flag of [...flags.map((known) => known.name), "help"])
        expect(words(name, "--")).toContain(`--${flag}`);
  });

  test("the values of a flag, also after its short name and an equals sign", () => {
    expect(words("get", "devices", "-o", "w")).toEqual(["wide"]);
    expect(words("get", "--output", "gr")).toEqual(["graphml"]);
    expect(words("get", "--output=ya")).toEqual(["--output=yaml"]);
    expect(words("get", "--url", "d")).toEqual([]);
  });

  test("resources, commands and shells as operands", () => {
    expect(words("get", "")).toEqual(["devices", "links", "hosts", "topology"]);
    expect(words("help", "ver")).toEqual(["version"]);
    expect(words("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(words("servers", "")).toEqual(["use", "remove"]);
  });

  test("files and folders where the usage names one", () => {
    expect(offered("serve", "--file", "netw").type).toBe("files");
    expect(offered("serve", "--file=netw").type).toBe("files");
    expect(offered("check", "netw").type).toBe("files");
    expect(offered("serve", "--data", "").type).toBe("folders");
  });

  test("a flag after a flag without its optional value", () => {
    expect(words("serve", "--demo", "--por")).toEqual(["--port"]);
  });
});

for (const shell of ["bash", "fish"] as const) {
  test.skipIf(!needs(shell))(
    `${shell} offers commands, flags, values, operands, files and folders`,
    async () => {
      const words = (...typed: string[]) => complete[shell](...typed);
      expect((await words("ser")).sort()).toEqual(["serve", "servers"]);
      expect(await words("get", "--outp")).toEqual(["--output"]);
      if (shell === "bash") expect(await words("get", "--output", "=", "ya")).toEqual(["yaml"]);
      else expect(await words("get", "--output=ya")).toEqual(["--output=yaml"]);
      if (shell === "bash") expect(await words("get", "type", "=", "d")).toEqual([]);
      if (shell === "bash") expect(await words("get", "of", ":", "d")).toEqual([]);
      expect(await words("get", "'dev")).toEqual(["devices"]);
      expect((await words("get", "")).sort()).toEqual(["devices", "hosts", "links", "topology"]);
      const files = (await words("serve", "--file", "netw")).map((name) => name.replaceAll("\\ ", " "));
      expect(files).toContain("network.yaml");
      expect(files).toContain("network two.yaml");
      // Outside of an interactive shell, compgen of bash does not remove backslashes.
      if (shell === "fish")
        expect(await words("serve", "--file", "network\\ t")).toEqual(["network two.yaml"]);
      expect((await words("serve", "--data", "network")).map((name) => name.replace(/\/$/, ""))).toEqual([
        "network-data",
      ]);
    },
  );
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
   * `gazetteer` is a function there that prints its arguments, unless the completion calls it.
   */
  async function completeInZsh(typed: readonly string[]): Promise<string[]> {
    const setup = [
      "autoload -Uz compinit; compinit -D -u",
      `source '${scripts.get("zsh")}'`,
      `gazetteer() { if [[ $1 == complete ]]; then command gazetteer "$@"; else print -r -- "<$*>"; fi }`,
      "print -r -- <rea''dy>",
    ];
    const inputs = [`${setup.join("\n").replace("<rea''dy>", "'<rea''dy>'")}\n`];
    inputs.push(...typed.map((text) => `gazetteer ${text}\t\n`), "exit\n");
    let [screen, sent] = ["", 0];
    const printed = () => [...screen.matchAll(/^<(.*)>\r?$/gm)].map(([, text = ""]) => text.trim());
    const child = Bun.spawn(["zsh", "-f", "-i"], {
      cwd: folder,
      env: { ...env, TERM: "dumb", PS1: "" },
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
      ["get devices -o wi", "get devices -o wide"],
      ["get devices --output=ya", "get devices --output=yaml"],
      ["get --no-h", "get --no-headers"],
      ['get "dev', "get devices"],
      ["serve --config network\\ t", "serve --config network two.yaml"],
      ["serve --config network.", "serve --config network.yaml"],
      ["serve --data network", "serve --data network-data"],
      ["serve --host h --por", "serve --host h --port"],
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
