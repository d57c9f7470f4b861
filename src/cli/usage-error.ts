/** Wrong use of the command line; the sentence says what is wrong. */
export class UsageError extends Error {}
