/** `Retry-After`, in either of its forms, as seconds from now; undefined where it says nothing that makes sense. */
export function retryAfterIn(header: (name: string) => string | null): number | undefined {
  const said = header('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(said)) return Number(said);
  // Every HTTP date ends like this; what else a parser makes a date of is none.
  const at = said.endsWith('GMT') ? Date.parse(said) : Number.NaN;
  // By the other side's clock where it tells it, since the two may differ.
  const now = Date.parse(header('Date') ?? '') || Date.now();
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000);
}
