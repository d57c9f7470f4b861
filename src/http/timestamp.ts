/** Moments as clients see them. */
export const timestamp = (moment: number): string => new Date(moment).toISOString();
