/** Formats numbers, bytes and times of the admin page, which is in English. */

export const formatCount = (count: number): string => count.toLocaleString('en');

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = (bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1).replace(/\.0$/, '');
  return `${number} ${units[step]}`;
}

/** Such as "2 d 5 h" or "12 min". */
export function formatDuration(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

export const formatAge = (timestamp: string): string => formatDuration(Date.now() - Date.parse(timestamp));
export const formatRest = (timestamp: string): string => formatDuration(Date.parse(timestamp) - Date.now());

const shortTime = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const longTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

export const formatShortTime = (timestamp: string): string => shortTime.format(new Date(timestamp));
export const formatTime = (timestamp: string): string => longTime.format(new Date(timestamp));
