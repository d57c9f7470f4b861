/** Content negotiation by Accept-Encoding. */

/** Smallest first. */
const encodings = ['br', 'gzip', 'identity'] as const;

export type Encoding = (typeof encodings)[number];

/** The available encoding with the highest weight, the smaller of two equal ones, or `identity` if none is accepted. */
export function pickEncoding(accepted: string | undefined, available: (encoding: Encoding) => boolean): Encoding {
  const weights = parseWeights(accepted ?? '');
  const weight = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? defaultWeight(encoding);
  const wanted = encodings.filter((encoding) => available(encoding) && weight(encoding) > 0);
  return wanted.toSorted((a, b) => weight(b) - weight(a))[0] ?? 'identity';
}

/** `identity` is acceptable unless excluded, but only as the last choice. */
const defaultWeight = (encoding: Encoding) => (encoding === 'identity' ? Number.MIN_VALUE : 0);

function parseWeights(accepted: string): Map<string, number> {
  const parts = accepted.toLowerCase().split(',');
  return new Map(parts.map((part) => [part.split(';')[0]?.trim() ?? '', weightOf(part)]));
}

function weightOf(part: string): number {
  const [, weight = '1'] = /;\s*q\s*=\s*([\d.]+)/.exec(part) ?? [];
  return Number(weight) || 0;
}
