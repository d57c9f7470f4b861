/** A PIN that someone says on the command line, out of habit: the history and the list of processes would keep it. */
export const isPin = (text: string) => /^[0-9]{4}$/.test(text);

export const pinArgumentRefused = 'A PIN is not said on the command line: it is asked for, or set POPROOM_PIN.';

export function hasPinArgument(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end < 0 ? args : args.slice(0, end);
  return options.some((arg, i) => arg.startsWith('--pin=') || (arg === '--pin' && isPin(options[i + 1] ?? '')));
}
