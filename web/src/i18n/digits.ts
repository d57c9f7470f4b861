/** Digits of other scripts, which people type with the keyboard of their language. */

/** "٤٢" and "４２" as "42". */
export const toAsciiDigits = (text: string): string =>
  text.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) as number)));

/** Unicode lists the digits of each script from zero to nine, after something that is not a digit. */
function digitValue(codePoint: number): number {
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(codePoint - value - 1))) value++;
  return value;
}
