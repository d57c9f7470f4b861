/** Replaces control and invisible characters in text from others before it is shown on a terminal. */
import { emojiSet, hiddenSet, isEmoji, replaceHidden } from '../core/files/local-name.ts';

export { replaceHidden };

const replacement = '\u{FFFD}';

const hiddenInText = new RegExp(String.raw`${emojiSet}|\r(?!\n)|[${hiddenSet}--[\r\n\t]]`, 'gv');

export function printable(text: string): string {
  return replaceHidden(text, () => replacement);
}

/** The same for a text of several lines: keeps line breaks and tabs. */
export function printableText(text: string): string {
  return text.replaceAll(hiddenInText, (found) => (isEmoji(found) ? found : replacement));
}
