/** Measures the width of a text in terminal columns, and shortens it. */

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const letters = new Intl.Segmenter();

export function textWidth(text: string): number {
  let width = 0;
  for (const { segment } of letters.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts a text that is too long, and adds an ellipsis. */
export function truncate(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let [kept, width] = ['', 0];
  for (const { segment } of letters.segment(text)) {
    width += textWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
