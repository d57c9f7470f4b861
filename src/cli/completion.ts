/** `poproom completion`: prints a shell completion script. */
import { type Command, help, type Input, type Option, takesCode } from './command.ts';
import { UsageError } from './errors.ts';

const scripts = new Map(Object.entries({ bash: bashScript, zsh: zshScript, fish: fishScript }));

/** Takes the commands as an argument, because commands.ts imports this file. */
export const completionOf =
  (commands: readonly Command[]) =>
  async ({ args }: Input): Promise<void> => {
    const script = args.length === 1 ? scripts.get(args[0] ?? '') : undefined;
    if (!script) throw new UsageError('Which shell? Run poproom completion with bash, zsh or fish.');
    console.log(script(commands));
  };

/** Completion for bash 3.2 and later. Does not need the bash-completion package. */
function bashScript(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `# bash completion for poproom. Add to ~/.bashrc: source <(poproom completion bash)
_poproom_words() {
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}

_poproom_codes() {
  COMPREPLY+=($(compgen -W "$(poproom recent --codes 2>/dev/null)" -- "$word"))
}

_poproom_files() {
  compopt -o filenames 2>/dev/null
  local name
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$word")
}

_poproom() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  # bash splits "--tier=p" into three words.
  if [[ $word == = ]]; then word=
  elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi

  if ((COMP_CWORD == 1)); then _poproom_words '${names} help --help --version'; return; fi
  case "$command $before" in
${commands.flatMap(bashValues).join('\n')}
  esac
  if [[ $word == -* ]]; then
    case $command in
${commands.map((command) => `      ${command.name}) _poproom_words '${bashOptions(command)}' ;;`).join('\n')}
    esac
    return
  fi
  case $command in
    help) _poproom_words '${names}' ;;
${commands.flatMap(bashArguments).join('\n')}
  esac
}

complete -F _poproom poproom`;
}

const bashOptions = ({ options }: Command) =>
  Object.keys({ ...options, help })
    .map((option) => `--${option}`)
    .join(' ');

/** Offers nothing for the value of an option without choices. */
function bashValues({ name, options }: Command): string[] {
  return Object.entries(options)
    .filter(([, { value }]) => value)
    .map(([option, definition]) => {
      const spellings = [`'${name} --${option}'`, ...(definition.short ? [`'${name} -${definition.short}'`] : [])];
      return `    ${spellings.join(' | ')}) ${bashOffer(definition.choices)}return ;;`;
    });
}

function bashArguments(command: Command): string[] {
  const { name, args, choices } = command;
  // A room code that is required comes before the files.
  const files = args.startsWith('CODE') ? '>= 3' : '>= 2';
  const offers = [
    ...(takesCode(command) ? ['if ((COMP_CWORD == 2)); then _poproom_codes; fi'] : []),
    ...(choices ? [`if ((COMP_CWORD ${choices === 'file' ? files : '== 2'})); then ${bashOffer(choices)}fi`] : []),
  ];
  return offers.length > 0 ? [`    ${name}) ${offers.join('; ')} ;;`] : [];
}

function bashOffer(choices: Option['choices']): string {
  if (choices === 'file') return '_poproom_files; ';
  return choices ? `_poproom_words '${choices.join(' ')}'; ` : '';
}

/** Completion for zsh, based on `_arguments`. */
function zshScript(commands: readonly Command[]): string {
  return `#compdef poproom
# zsh completion for poproom. Add to ~/.zshrc, after compinit: source <(poproom completion zsh)
_poproom() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${zshQuoted(`${name}:${summary}`)}`).join('\n')}
    'help:show help for a command'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
    help) _describe command commands ;;
${commands.map(zshBranch).join('\n')}
  esac
}

# In an fpath folder, zsh runs this file as the function. Otherwise, register it.
if [[ $funcstack[1] == _poproom ]]; then _poproom "$@"; else compdef _poproom poproom; fi`;
}

function zshBranch(command: Command): string {
  const { name, options } = command;
  const specs = [...Object.entries({ ...options, help }).map(zshOption), ...zshArguments(command)];
  return `    ${name})\n      _arguments \\\n${specs.map((spec) => `        ${spec}`).join(' \\\n')} ;;`;
}

function zshOption([option, { short, value, summary, choices }]: [string, Option]): string {
  const description = `[${summary.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const taken = value ? `:${value}:${zshAction(choices)}` : '';
  const long = `--${option}${value ? '=' : ''}`;
  if (!short) return zshQuoted(long + description + taken);
  return `${zshQuoted(`(-${short} --${option})`)}{-${short}${value ? '+' : ''},${long}}${zshQuoted(description + taken)}`;
}

function zshArguments(command: Command): string[] {
  const { args, choices } = command;
  const files = args.startsWith('[') ? '; _files' : '';
  const codes = `{compadd -- \${(f)"$(poproom recent --codes 2>/dev/null)"}${files}}`;
  const code = takesCode(command) ? [zshQuoted(`1:code:${codes}`)] : [];
  if (choices === 'file') return [...code, zshQuoted('*:file:_files')];
  return choices ? [zshQuoted(`1:what:${zshAction(choices)}`)] : code;
}

/** A space means no completions. */
function zshAction(choices: Option['choices']): string {
  if (choices === 'file') return '_files';
  return choices ? `(${choices.join(' ')})` : ' ';
}

const zshQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function fishScript(commands: readonly Command[]): string {
  return [
    '# fish completion for poproom. Add to ~/.config/fish/config.fish: poproom completion fish | source',
    'complete -c poproom -f',
    ...commands.map(
      ({ name, summary }) => `complete -c poproom -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`,
    ),
    "complete -c poproom -n __fish_use_subcommand -a help -d 'show help for a command'",
    `complete -c poproom -n '__fish_seen_subcommand_from help' -a '${commands.map(({ name }) => name).join(' ')}'`,
    ...commands.flatMap(fishLines),
  ].join('\n');
}

function fishLines(command: Command): string[] {
  const { name, options, choices } = command;
  const when = (...conditions: string[]) =>
    `complete -c poproom -n '${[`__fish_seen_subcommand_from ${name}`, ...conditions].join('; and ')}'`;
  const lines = Object.entries({ ...options, help }).map(([option, definition]) => {
    return `${when()}${fishOption(option, definition)} -d ${fishQuoted(definition.summary)}`;
  });
  if (takesCode(command)) lines.push(`${when(fishIsFirst)} -a '(poproom recent --codes 2>/dev/null)'`);
  if (choices === 'file') lines.push(`${when()} -F`);
  else if (choices) {
    const all = choices.join(' ');
    lines.push(`${when(`not __fish_seen_subcommand_from ${all}`)} -a '${all}'`);
  }
  return lines;
}

const fishIsFirst = 'test (count (commandline -opc)) -eq 2';

function fishOption(option: string, { short, value, choices }: Option): string {
  const names = `${short ? ` -s ${short}` : ''} -l ${option}`;
  if (!value) return names;
  if (choices === 'file') return `${names} -r -F`;
  return `${names} -x${choices ? ` -a '${choices.join(' ')}'` : ''}`;
}

const fishQuoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
