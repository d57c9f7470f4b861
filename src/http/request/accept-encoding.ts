/** Which of the encodings that we have a client wants. */

/** The smallest first. */
const encodings = ['br', 'gzip', 'identity'] as const;

export type Encoding = (typeof encodings)[number];

/** The one that the client likes best, the smaller of two that it likes alike; the plain one where it likes none. */
export function pickEncoding(accepted: string | undefined, available: (encoding: Encoding) => boolean): Encoding {
  const likings = parseLikings(accepted ?? '');
  const liking = (encoding: Encoding) => likings.get(encoding) ?? likings.get('*') ?? unnamed(encoding);
  const wanted = encodings.filter((encoding) => available(encoding) && liking(encoding) > 0);
  return wanted.toSorted((a, b) => liking(b) - liking(a))[0] ?? 'identity';
}

/** The plain one is always allowed unless it is refused, but it is nobody's choice. */
const unnamed = (encoding: Encoding) => (encoding === 'identity' ? Number.MIN_VALUE : 0);

function parseLikings(accepted: string): Map<string, number> {
  const parts = accepted.toLowerCase().split(',');
  return new Map(parts.map((part) => [part.split(';')[0]?.trim() ?? '', weightOf(part)]));
}

function weightOf(part: string): number {
  const [, weight = '1'] = /;\s*q\s*=\s*([\d.]+)/.exec(part) ?? [];
  return Number(weight) || 0;
}
