/** The help, docs/cli.md, and the messages of common failures: what a person sees who does not know the program yet. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT_STATUS_MEANINGS } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommand } from "../support/command.ts";
import { startService } from "../support/service.ts";

const PAGE = readFileSync(join(import.meta.dir, "..", "..", "docs", "cli.md"), "utf8");

describe("help", () => {
  test("help COMMAND is COMMAND --help, for every command", async () => {
    for (const { name, flags, summary } of COMMANDS) {
      const [help, flag] = await Promise.all([runCommand(["help", name]), runCommand([name, "--help"])]);
      expect(help).toEqual(flag);
      expect(help).toMatchObject({ status: 0, stderr: "" });
      expect(help.stdout).toStartWith(`${summary}\n\nusage: gazetteer ${name}`);
      for (const { name: flagName } of flags) expect(help.stdout).toContain(`--${flagName}`);
    }
  });

  test("lists the commands and the exit statuses", async () => {
    const { stdout } = await runCommand(["help"]);
    for (const { name, summary } of COMMANDS)
      expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, "m"));
    for (const [status, meaning] of EXIT_STATUS_MEANINGS)
      expect(stdout).toContain(`  ${status}  ${meaning}\n`);
  });

  test("of an unknown command it names the nearest one, with status 2", async () => {
    expect(await runCommand(["help", "gte"])).toEqual({
      status: 2,
      stdout: "",
      stderr: 'gazetteer help: there is no command "gte"; did you mean get?\n',
    });
  });
});

describe("docs/cli.md", () => {
  test("has the exit statuses of the program", () => {
    const [, table = ""] = /exit-status:begin.*\n([\s\S]*?)<!-- exit-status:end/.exec(PAGE) ?? [];
    const rows = EXIT_STATUS_MEANINGS.map(([status, meaning]) => `| ${status} | ${meaning} |\n`);
    expect(table).toBe(`| status | means |\n|---|---|\n${rows.join("")}`);
  });

  test("has every command and every format of get, and no others", () => {
    const commands = PAGE.slice(0, PAGE.indexOf("## Reading"));
    const documented = [...commands.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(documented).toEqual(COMMANDS.map(({ name }) => name));
    const outputs = COMMANDS.find(({ name }) => name === "get")?.flags.find(
      ({ name }) => name === "output",
    )?.choices;
    const section = PAGE.slice(PAGE.indexOf("| `-o` |"), PAGE.indexOf("- `--no-headers`"));
    const [, ...rows] = section.trim().split("\n");
    const names = rows.flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(names.sort()).toEqual([...(outputs ?? [])].sort());
  });
});

describe("failures say what to do next", () => {
  const failureOf = async (args: string[], env: Record<string, string> = {}) => {
    const { status, stdout, stderr } = await runCommand(["get", "devices", ...args], { env });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    return stderr;
  };

  test("nothing listens at the address", async () => {
    const closed = "http://127.0.0.1:1";
    expect(await failureOf(["--url", closed])).toMatch(
      /^gazetteer get: no response from 127\.0\.0\.1:1 \(\w+\); is the service running there\? Start it, or correct --url\n$/,
    );
    expect(await failureOf([], { GAZETTEER_URL: closed })).toContain("correct GAZETTEER_URL");
  });

  test("401 without credentials, with wrong ones in the environment, and with wrong ones in the URL", async () => {
    await using service = await startService({ credentials: "ann:right" });
    expect(await failureOf(["--url", service.url])).toContain(
      `; run gazetteer login ${service.url}, or set GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>'\n`,
    );
    expect(await failureOf(["--url", service.url], { GAZETTEER_CREDENTIALS: "ann:wrong" })).toContain(
      `; correct GAZETTEER_CREDENTIALS, or unset it and run gazetteer login ${service.url}\n`,
    );
    const withPassword = service.url.replace("//", "//ann:wrong@");
    expect(await failureOf(["--url", withPassword])).toContain(
      "; correct the user name and password in --url\n",
    );
  });
});
