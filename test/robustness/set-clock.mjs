// Loaded into a server process before it (node --import): its clock is ahead by the milliseconds in the file CLOCK_FILE, which the test
// writes while the server runs. Timers and performance.now are the real ones, as on a machine whose clock is set.
import { readFileSync } from 'node:fs';

const RealDate = Date;
let ahead = 0;

globalThis.Date = class extends RealDate {
  constructor(...values) {
    super(...(values.length === 0 ? [RealDate.now() + ahead] : values));
  }
  static now() {
    return RealDate.now() + ahead;
  }
};

setInterval(() => {
  try {
    ahead = Number(readFileSync(process.env.CLOCK_FILE, 'utf8'));
  } catch {
    // not written yet
  }
}, 20).unref();
