// The system clock. Everything that needs the time takes a Clock, so that a test can set it.

export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
