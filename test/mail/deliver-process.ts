// An instance that delivers mail and is killed in the middle of it. Arguments: database, mail server.
import { openDatabase } from '../../src/platform/db.ts';
import { testClock } from '../support/clock.ts';
import { post } from './support.ts';

const [, , databaseUrl = '', smtpUrl = ''] = process.argv;
const database = await openDatabase(databaseUrl);
await post({ ...database, clock: testClock(), smtpUrl }).deliver();
