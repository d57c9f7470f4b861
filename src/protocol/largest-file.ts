/** How many bytes a file may have at most, on any server. */
export const largestFile = 10_485_760;
