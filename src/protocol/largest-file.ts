/** The maximum size of a file in bytes, on every server. */
export const largestFile = 10_485_760;
