// The only reader of the clock: everything else is handed a Clock, so that a test can move time.

export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
