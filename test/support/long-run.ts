/** `npm run test:long`: every combination, and as long as it takes. `npm test` has a part of them, or a shorter fault of the same kind. */
export const isLongRun = process.env.LONG_RUN === '1';
