/** `npm run test:hostile` also runs tests that take minutes, and sends many more requests. */
export const isLongRun = process.env.POPROOM_HOSTILE === 'long';

/** Options for tests that are too slow for `npm run test:all`. */
export const onlyInLongRun = isLongRun ? {} : { skip: 'it takes minutes; "npm run test:hostile" runs it' };
