/** Replaces control and invisible characters in text from others before it is shown on a terminal. */

const replacement = '\u{FFFD}';

/**
 * Control characters, direction overrides and marks, line separators, and invisible characters. Joiners and variation
 * selectors are kept, because scripts and emoji need them, and so are Arabic number signs, which are visible.
 */
const hidden = String.raw`[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200C-\u200D\uFE0E-\uFE0F\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]`;
/** The flags of England, Scotland and Wales contain characters that are otherwise invisible. */
const emoji = String.raw`\p{RGI_Emoji_Tag_Sequence}`;

const hiddenInLine = new RegExp(`${emoji}|${hidden}`, 'gv');
const hiddenInText = new RegExp(String.raw`${emoji}|\r(?!\n)|[${hidden}--[\r\n\t]]`, 'gv');

export function printable(text: string): string {
  return replaceHidden(text, () => replacement);
}

/** The same for a text of several lines: keeps line breaks and tabs. */
export function printableText(text: string): string {
  return text.replaceAll(hiddenInText, (found) => (isEmoji(found) ? found : replacement));
}

export function replaceHidden(text: string, replace: (character: string) => string): string {
  return text.replaceAll(hiddenInLine, (found) => (isEmoji(found) ? found : replace(found)));
}

/** Other matches are a single character. */
const isEmoji = (found: string) => found.length > 2;
