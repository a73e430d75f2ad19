/** `gazetteer completion`: the completion script of a shell, made from the table of commands. */
import type { Command } from "./command.ts";
import { SCRIPTS, type Shell } from "./completion-scripts.ts";
import { completionTable } from "./completion-table.ts";
import { EXIT_STATUS, usageFailure } from "./failure.ts";

const SHELLS: readonly Shell[] = ["bash", "zsh", "fish"];

/** `commands` is called when the command runs, because the list of commands contains this one. */
export const createCompletionCommand = (commands: () => readonly Command[]): Command => ({
  name: "completion",
  operands: SHELLS.join("|"),
  summary: "Print the completion script of a shell.",
  flags: [],
  notes: `
  bash:  source <(gazetteer completion bash)                                        # in ~/.bashrc
  zsh:   source <(gazetteer completion zsh)                                         # in ~/.zshrc, after compinit
  fish:  gazetteer completion fish > ~/.config/fish/completions/gazetteer.fish`,
  async run({ positionals: [name, ...extra] }, context) {
    const shell = SHELLS.find((candidate) => candidate === name);
    if (shell === undefined || extra.length > 0) throw usageFailure(`wants one of ${SHELLS.join(", ")}`);
    await context.out(SCRIPTS[shell](completionTable(commands())));
    return EXIT_STATUS.ok;
  },
});
