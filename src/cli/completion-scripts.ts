/**
 * The completion scripts of bash, zsh and fish, rendered from the table of completions. Each script is complete in
 * itself: pressing Tab starts no process.
 */
import type { CommandCompletion, Completion, FlagCompletion } from "./completion-table.ts";

type Table = readonly CommandCompletion[];

export const SCRIPTS = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;
export type Shell = keyof typeof SCRIPTS;

/** POSIX quoting, for bash and zsh. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Without the full stop of a sentence. */
const phrase = (text: string): string => text.replace(/\.$/, "");

function renderBash(table: Table): string {
  const values = table.flatMap(({ name, flags }) =>
    flags.flatMap((flag) => {
      if (!flag.value) return [];
      const patterns = flag.names.map((flagName) => quote(`${name} ${flagName}`)).join(" | ");
      return [`    ${patterns}) ${bashReply(flag.value.complete)}; return ;;`];
    }),
  );
  const commands = table.map(({ name, flags, operands }) => {
    const names = flags.flatMap((flag) => flag.names).join(" ");
    return `    ${name})
      if [[ $cur == -* ]]; then ${bashWords(names)}
      else ${bashReply(operands)}; fi ;;`;
  });
  return `# bash completion of gazetteer. To use it in this shell: source <(gazetteer completion bash)
_gazetteer() {
  local IFS=$' \\t\\n'
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  # bash splits --flag=value into three words.
  if [[ $cur == '=' ]]; then cur=
  elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    ${bashWords(table.map(({ name }) => name).join(" "))}
    return
  fi
  # A flag after a flag whose value may be left out is no value.
  [[ $cur == -* ]] || case "\${COMP_WORDS[1]} $prev" in
${values.join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${commands.join("\n")}
  esac
}
complete -F _gazetteer gazetteer
`;
}

const bashWords = (words: string): string => `COMPREPLY=($(compgen -W ${quote(words)} -- "$cur"))`;

function bashReply(completion: Completion): string {
  switch (completion.type) {
    case "words":
      return bashWords(completion.words.join(" "));
    case "files":
      return `compopt -o filenames 2>/dev/null; IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur"))`;
    case "folders":
      return `compopt -o filenames 2>/dev/null; IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$cur"))`;
    case "none":
      return ":";
  }
}

function renderZsh(table: Table): string {
  const commands = table.map(({ name, summary }) => `    ${quote(`${name}:${phrase(summary)}`)}`);
  const cases = table.map(({ name, flags, operands }) => {
    // An operand without an action would be a message, which keeps zsh from inserting the only flag that matches.
    const rest = operands.type === "none" ? [] : [quote(`*:operand:${zshAction(operands)}`)];
    const specs = [...flags.map(zshFlag), ...rest];
    return `    ${name})\n      _arguments -s ${specs.join(" \\\n        ")} ;;`;
  });
  return `#compdef gazetteer
# zsh completion of gazetteer. To use it in this shell: source <(gazetteer completion zsh)
_gazetteer() {
  local -a commands
  commands=(
${commands.join("\n")}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  ((CURRENT--))
  case $name in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _gazetteer ]]; then _gazetteer "$@"; else compdef _gazetteer gazetteer; fi
`;
}

/** `'(--output -o)'{--output=,-o+}'[Help]:FORMAT:(table wide)'` */
function zshFlag({ names, help, value, repeated }: FlagCompletion): string {
  const spellings = names.map(
    (name) => name + (value === undefined ? "" : zshValueMark(name, value.optional)),
  );
  const alternatives = spellings.length === 1 ? spellings.join("") : `{${spellings.join(",")}}`;
  const exclusive = repeated ? "'*'" : quote(`(${names.join(" ")})`);
  const description = `[${phrase(help).replaceAll(/[\\[\]:]/g, "\\$&")}]`;
  const argument =
    value === undefined
      ? ""
      : `${value.optional ? "::" : ":"}${value.placeholder.replaceAll(/[\\[\]:]/g, "\\$&")}:${zshAction(value.complete)}`;
  return `${exclusive}${alternatives}${quote(description + argument)}`;
}

/** The value follows after `=` or as the next word. An optional one is offered after `=` only. */
function zshValueMark(name: string, optional: boolean): string {
  if (!name.startsWith("--")) return "+";
  return optional ? "=-" : "=";
}

function zshAction(completion: Completion): string {
  switch (completion.type) {
    case "words":
      return `(${completion.words.join(" ")})`;
    case "files":
      return "_files";
    case "folders":
      return "_files -/";
    case "none":
      return "";
  }
}

function renderFish(table: Table): string {
  const commands = table.map(
    ({ name, summary }) =>
      `complete -c gazetteer -n __gazetteer_needs_command -a ${name} -d ${fishQuote(phrase(summary))}`,
  );
  const perCommand = table.flatMap(({ name, flags, operands }) => {
    const condition = `complete -c gazetteer -n ${fishQuote(`__gazetteer_command_is ${name}`)}`;
    return [...flags.map((flag) => `${condition} ${fishFlag(flag)}`), ...fishOperands(condition, operands)];
  });
  return `# fish completion of gazetteer. To use it in this shell: gazetteer completion fish | source
function __gazetteer_needs_command
    test (count (commandline -opc)) -eq 1
end
function __gazetteer_command_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end
complete -c gazetteer -f
${[...commands, ...perCommand].join("\n")}
`;
}

const fishQuote = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;

function fishFlag({ names, help, value }: FlagCompletion): string {
  const spellings = names.map((name) =>
    name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  // An optional value is given with = only, so it is not required after the flag.
  const requires = value === undefined || value.optional ? "" : ` ${fishValue(value.complete)}`;
  return `${spellings.join(" ")} -d ${fishQuote(phrase(help))}${requires}`;
}

function fishValue(completion: Completion): string {
  switch (completion.type) {
    case "words":
      return `-x -a ${fishQuote(completion.words.join(" "))}`;
    case "files":
      return "-r -F";
    case "folders":
      return "-x -a '(__fish_complete_directories)'";
    case "none":
      return "-x";
  }
}

function fishOperands(condition: string, operands: Completion): string[] {
  if (operands.type === "none") return [];
  if (operands.type === "words") return [`${condition} -a ${fishQuote(operands.words.join(" "))}`];
  return [`${condition} ${operands.type === "files" ? "-F" : "-a '(__fish_complete_directories)'"}`];
}
