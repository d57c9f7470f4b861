/** Detects a PIN in the arguments, where the shell history and the process list would expose it. */
export const isPin = (text: string) => /^[0-9]{4}$/.test(text);

export const pinArgumentRefused = 'Do not pass the PIN as an argument: you are asked for it, or set POPROOM_PIN.';

export function hasPinArgument(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end < 0 ? args : args.slice(0, end);
  return options.some(
    (arg, i) => /^--(new-)?pin=/.test(arg) || (/^--(new-)?pin$/.test(arg) && isPin(options[i + 1] ?? '')),
  );
}
