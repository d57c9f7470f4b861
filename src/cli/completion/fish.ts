/** Completion for fish. */
import { type Command, help, type Option, takesCode } from '../command.ts';

export function fishScript(commands: readonly Command[]): string {
  return [
    '# fish completion for poproom. Add to ~/.config/fish/config.fish: poproom completion fish | source',
    'complete -c poproom -f',
    ...commands.map(
      ({ name, summary }) => `complete -c poproom -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ),
    "complete -c poproom -n __fish_use_subcommand -a help -d 'show help for a command'",
    `complete -c poproom -n '__fish_seen_subcommand_from help' -a '${commands.map(({ name }) => name).join(' ')}'`,
    ...commands.flatMap(linesOf),
  ].join('\n');
}

function linesOf(command: Command): string[] {
  const within = `complete -c poproom -n '__fish_seen_subcommand_from ${command.name}'`;
  const options = Object.entries({ ...command.options, help }).map(([option, definition]) => {
    return `${within}${optionPart(option, definition)} -d ${quoted(definition.summary)}`;
  });
  return [...options, ...argumentLines(command)];
}

function optionPart(option: string, { short, value, choices }: Option): string {
  const names = `${short ? ` -s ${short}` : ''} -l ${option}`;
  if (!value) return names;
  if (choices === 'file') return `${names} -r -F`;
  return `${names} -x${choices ? ` -a '${choices.join(' ')}'` : ''}`;
}

function argumentLines(command: Command): string[] {
  const { name, choices } = command;
  const within = `__fish_seen_subcommand_from ${name}`;
  const codes = takesCode(command) ? [`complete -c poproom -n '${within}; and ${isFirst}' -a '${codeList}'`] : [];
  if (choices === undefined) return codes;
  if (choices === 'file') return [...codes, `complete -c poproom -n '${within}' -F`];
  const all = choices.join(' ');
  return [...codes, `complete -c poproom -n '${within}; and not __fish_seen_subcommand_from ${all}' -a '${all}'`];
}

const isFirst = 'test (count (commandline -opc)) -eq 2';
const codeList = '(poproom recent --codes 2>/dev/null)';

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
