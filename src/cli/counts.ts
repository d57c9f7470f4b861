/** Formats a number of bytes, such as "10 MiB" or "1.5 MiB". */
export function formatBytes(bytes: number): string {
  const units = [bytes === 1 ? 'byte' : 'bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = (bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1);
  return `${number.replace(/\.0$/, '')} ${units[step]}`;
}

/** `1 room`, `2 rooms`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
