/** Incorrect usage of the command line. The message says what is wrong. */
export class UsageError extends Error {}
