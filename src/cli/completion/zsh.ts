/** Completion for zsh, based on `_arguments`. */
import { type Command, help, type Option, takesCode } from '../command.ts';

export function zshScript(commands: readonly Command[]): string {
  return `#compdef poproom
# zsh completion for poproom. Add to ~/.zshrc, after compinit: source <(poproom completion zsh)
_poproom() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
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
${commands.map(branchOf).join('\n')}
  esac
}

# In an fpath folder, zsh runs this file as the function. Otherwise, register it.
if [[ $funcstack[1] == _poproom ]]; then _poproom "$@"; else compdef _poproom poproom; fi`;
}

function branchOf(command: Command): string {
  const { name, options } = command;
  const specs = [
    ...Object.entries({ ...options, help }).map(([option, definition]) => optionSpec(option, definition)),
    ...argumentSpecs(command),
  ];
  return `    ${name})\n      _arguments \\\n${specs.map((spec) => `        ${spec}`).join(' \\\n')} ;;`;
}

function optionSpec(option: string, { short, value, summary, choices }: Option): string {
  const description = `[${summary.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const taken = value ? `:${value}:${action(choices)}` : '';
  const long = `--${option}${value ? '=' : ''}`;
  if (!short) return quoted(long + description + taken);
  return `${quoted(`(-${short} --${option})`)}{-${short}${value ? '+' : ''},${long}}${quoted(description + taken)}`;
}

function argumentSpecs(command: Command): string[] {
  const { args, choices } = command;
  const isOptional = args.startsWith('[');
  const code = takesCode(command) ? [quoted(`1:code:${isOptional ? codesAndFiles : codes}`)] : [];
  if (choices === 'file') return [...code, quoted('*:file:_files')];
  return choices ? [quoted(`1:what:${action(choices)}`)] : code;
}

const recent = '"$(poproom recent --codes 2>/dev/null)"';
const codes = `{compadd -- \${(f)${recent}}}`;
const codesAndFiles = `{compadd -- \${(f)${recent}}; _files}`;

/** A space means no completions. */
function action(choices: Option['choices']): string {
  if (choices === 'file') return '_files';
  return choices ? `(${choices.join(' ')})` : ' ';
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
