/** Parses `Retry-After`, in seconds or as a date, to seconds from now. Returns undefined if it is missing or invalid. */
export function parseRetryAfter(header: (name: string) => string | null): number | undefined {
  const value = header('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  // Every HTTP date ends with GMT. Date.parse also accepts strings that are not HTTP dates.
  const at = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  // Relative to the server's clock if known, because the two clocks may differ.
  const now = Date.parse(header('Date') ?? '') || Date.now();
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000);
}
