/** The clipboard is missing or does not work. The message says what to do. */
export class ClipboardError extends Error {}
