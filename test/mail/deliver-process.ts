// A process that delivers mail, for a test that kills it. Arguments: database URL, mail server URL.
import { openDatabase } from '../../src/base/storage/database.ts';
import { testClock } from '../support/clock.ts';
import { mailService } from './support.ts';

const [, , databaseUrl = '', smtpUrl = ''] = process.argv;
const database = await openDatabase(databaseUrl);
await mailService({ ...database, clock: testClock(), smtpUrl }).deliver();
