/** `npm run test:hostile` asks for more of the same: what takes minutes, and many more requests. */
export const isLongForm = process.env.POPROOM_HOSTILE === 'long';

/** The options of a test that `npm test` has no time for. */
export const onlyInLongForm = isLongForm ? {} : { skip: 'it takes minutes; "npm run test:hostile" runs it' };
