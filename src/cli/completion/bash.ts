/** Completion for bash 3.2 and later. Does not need the bash-completion package. */
import { type Command, help, type Option, takesCode } from '../command.ts';

export function bashScript(commands: readonly Command[]): string {
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
${commands.flatMap(valuesOf).join('\n')}
  esac
  if [[ $word == -* ]]; then
    case $command in
${commands.map((command) => `      ${command.name}) _poproom_words '${optionsOf(command)}' ;;`).join('\n')}
    esac
    return
  fi
  case $command in
    help) _poproom_words '${names}' ;;
${commands.flatMap(argumentsOf).join('\n')}
  esac
}

complete -F _poproom poproom`;
}

const optionsOf = ({ options }: Command) =>
  Object.keys({ ...options, help })
    .map((option) => `--${option}`)
    .join(' ');

/** Offers nothing for the value of an option without choices. */
function valuesOf({ name, options }: Command): string[] {
  return Object.entries(options)
    .filter(([, { value }]) => value)
    .map(([option, definition]) => {
      const spellings = [`'${name} --${option}'`, ...(definition.short ? [`'${name} -${definition.short}'`] : [])];
      return `    ${spellings.join(' | ')}) ${offer(definition.choices)}return ;;`;
    });
}

function argumentsOf(command: Command): string[] {
  const { name, args, choices } = command;
  const hasCode = takesCode(command);
  const offers = [
    ...(hasCode ? ['if ((COMP_CWORD == 2)); then _poproom_codes; fi'] : []),
    ...(choices ? [`if ((COMP_CWORD ${positionOf(args, choices)})); then ${offer(choices)}fi`] : []),
  ];
  return offers.length > 0 ? [`    ${name}) ${offers.join('; ')} ;;`] : [];
}

/** A room code that is required comes before the files. */
function positionOf(args: string, choices: NonNullable<Option['choices']>): string {
  if (choices !== 'file') return '== 2';
  return args.startsWith('CODE') ? '>= 3' : '>= 2';
}

function offer(choices: Option['choices']): string {
  if (choices === 'file') return '_poproom_files; ';
  return choices ? `_poproom_words '${choices.join(' ')}'; ` : '';
}
