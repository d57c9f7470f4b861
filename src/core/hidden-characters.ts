/** Characters that a reader cannot see, and that could make a name look like another one. */

/**
 * Control characters, direction overrides and marks, line separators, and invisible characters. Joiners and variation
 * selectors are kept, because scripts and emoji need them, and so are Arabic number signs, which are visible.
 */
export const hiddenSet = String.raw`[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200C-\u200D\uFE0E-\uFE0F\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]`;
/** The flags of England, Scotland and Wales contain characters that are otherwise invisible. */
export const emojiSet = String.raw`\p{RGI_Emoji_Tag_Sequence}`;

const hiddenInLine = new RegExp(`${emojiSet}|${hiddenSet}`, 'gv');

export function replaceHidden(text: string, replace: (character: string) => string): string {
  return text.replaceAll(hiddenInLine, (found) => (isEmoji(found) ? found : replace(found)));
}

/** Other matches are a single character. */
export const isEmoji = (found: string): boolean => found.length > 2;
