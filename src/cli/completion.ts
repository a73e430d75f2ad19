/**
 * Shell completion. `gazetteer completion SHELL` prints a script for the shell. When the user presses Tab, the script calls
 * the hidden command `gazetteer complete -- WORDS…`, which reads the table of commands. So the three shells offer the same:
 * the names of commands, the flags, their values, and the operands in the usage line.
 *
 * The first line that `complete` prints is `words`, `files` or `folders`. The candidates follow after `words`, one on each
 * line, with a description after a tab. The shell itself completes names of files and folders.
 */

import { HELP_FLAG } from "./args.ts";
import { type Command, EXIT_STATUS, type Flag, usageFailure } from "./command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/**
 * The scripts call the program by the path that the user typed, because it may not be in PATH. They remove quotes and
 * backslashes from the words, because no name of a command or flag and no offered value has any. A shell quotes the names of
 * files itself.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `# bash completion of gazetteer. To use it in this shell: source <(gazetteer completion bash)
_gazetteer() {
  local word reply raw=\${COMP_WORDS[COMP_CWORD]} n=0
  local -a words=()
  # bash splits words at = and :, so these are joined again.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((n == 0)) || [[ $word != [=:]* && \${words[n]} != *[=:] ]]; then ((n += 1)); fi
    words[n]+=\${word//[\\"\\'\\\\]/}
  done
  [[ $raw == [=:]* ]] && raw=
  reply=$("\${COMP_WORDS[0]/#\\~/$HOME}" complete -- "\${words[@]:1}" 2>/dev/null)
  case $reply in
    files) compopt -o filenames 2>/dev/null; reply=$(compgen -f -- "$raw") ;;
    folders) compopt -o filenames 2>/dev/null; reply=$(compgen -d -- "$raw") ;;
    *) reply=\${reply#words} ;;
  esac
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    # The shell replaces only what follows the last = or :.
    [[ -z $word ]] || COMPREPLY+=("\${word#"\${words[n]%"\${raw//[\\"\\'\\\\]/}"}"}")
  done <<<"$reply"
}
complete -F _gazetteer gazetteer
`,
  zsh: `#compdef gazetteer
# zsh completion of gazetteer. To use it in this shell: source <(gazetteer completion zsh)
_gazetteer() {
  local -a typed=("\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}")
  local -a reply=("\${(@f)$(\${~words[1]} complete -- "\${(@)typed}" 2>/dev/null)}")
  local -a shown=("\${(@)reply[2,-1]//$'\\t'/  }")
  case $reply[1] in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
    *) (($#shown)) && compadd -l -d shown -- "\${(@)reply[2,-1]%%$'\\t'*}" ;;
  esac
}
if [[ $funcstack[1] == _gazetteer ]]; then _gazetteer "$@"; else compdef _gazetteer gazetteer; fi
`,
  fish: `# fish completion of gazetteer. To use it in this shell: gazetteer completion fish | source
function __gazetteer_complete
    set -l words (commandline -opc)
    set -l program (string replace -r -- '^~' $HOME $words[1])
    set -l token (string replace -ra -- '["\\'\\\\\\\\]' '' (commandline -ct))
    set -l flag (string match -r -- '^--[^=]*=' $token)
    set -l path (string replace -r -- '^--[^=]*=' '' $token)
    set -l reply ($program complete -- $words[2..] "$token" 2>/dev/null)
    switch "$reply[1]"
        case files
            printf '%s\\n' "$flag"(__fish_complete_path "$path")
        case folders
            printf '%s\\n' "$flag"(__fish_complete_directories "$path")
        case '*'
            printf '%s\\n' $reply[2..]
    end
end
complete -c gazetteer -f -a '(__gazetteer_complete)'
`,
};

export const completionCommand: Command = {
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
    await context.out(COMPLETION_SCRIPTS[shell]);
    return EXIT_STATUS.ok;
  },
};

/** The hidden command that the scripts call. `commands` is called when the command runs, as for `help`. */
export const createCompleteCommand = (commands: () => readonly Command[]): Command => ({
  name: "complete",
  operands: "-- WORD...",
  summary: "Print what may follow on a command line; the last WORD is completed.",
  flags: [],
  async run({ positionals }, context) {
    const { type, words } = completionOf(commands(), positionals);
    const lines = words.map(({ word, help = "" }) => (help === "" ? word : `${word}\t${help}`));
    await context.out(`${[type, ...lines].join("\n")}\n`);
    return EXIT_STATUS.ok;
  },
});

interface CompletedWord {
  readonly word: string;
  readonly help?: string;
}

export interface Completion {
  readonly type: "words" | "files" | "folders";
  readonly words: readonly CompletedWord[];
}

/** The candidates for the last of the words after `gazetteer`. */
export function completionOf(commands: readonly Command[], typed: readonly string[]): Completion {
  const current = typed.at(-1) ?? "";
  const [name, ...others] = typed.slice(0, -1);
  if (name === undefined)
    return matching(
      current,
      commands.map((command) => ({ word: command.name, help: phrase(command.summary) })),
    );
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) return matching(current, []);
  const flags = [...command.flags, HELP_FLAG];
  const [, attachedTo, value] = /^(--[^=]+)=(.*)$/.exec(current) ?? [];
  const previous = attachedTo ?? others.at(-1);
  const flag = flags.find((candidate) => spellingsOf(candidate).includes(previous ?? ""));
  // A word that starts with a dash is a flag, not the value of the flag before it, whose value may be left out.
  if (flag?.value !== undefined && (attachedTo !== undefined || !current.startsWith("-")))
    return ofPlaceholder(flag.value, flag.choices ?? [], value ?? current, attachedTo);
  if (current.startsWith("-"))
    return matching(
      current,
      flags.flatMap((offered) => spellingsOf(offered).map((word) => ({ word, help: phrase(offered.help) }))),
    );
  const tokens = command.operands.replaceAll(/[[\].]/g, " ").split(/\s+/);
  const words = tokens.flatMap((token) =>
    token === "COMMAND" ? commands.map((other) => other.name) : token.includes("|") ? token.split("|") : [],
  );
  const path = tokens.find((token) => pathType(token) !== "words") ?? "";
  return ofPlaceholder(path, words, current);
}

/** Offers `words` if there are any; else files or folders when the placeholder ends in FILE, PATH or DIR. */
function ofPlaceholder(
  placeholder: string,
  words: readonly string[],
  current: string,
  attachedTo?: string,
): Completion {
  const prefix = attachedTo === undefined ? "" : `${attachedTo}=`;
  if (words.length > 0 || pathType(placeholder) === "words")
    return matching(
      prefix + current,
      words.map((word) => ({ word: prefix + word })),
    );
  return { type: pathType(placeholder), words: [] };
}

function pathType(placeholder: string): Completion["type"] {
  if (/(FILE|PATH)$/.test(placeholder)) return "files";
  return /DIR$/.test(placeholder) ? "folders" : "words";
}

const matching = (current: string, words: readonly CompletedWord[]): Completion => ({
  type: "words",
  words: words.filter(({ word }) => word.startsWith(current)),
});

/** The forms of the flag with dashes: `--output`, `-o`. */
const spellingsOf = ({ name, short }: Flag): string[] =>
  short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];

/** Removes the full stop of a sentence. */
const phrase = (text: string): string => text.replace(/\.$/, "");
