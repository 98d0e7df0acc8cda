// A process that claims a logout delivery and never gets a response, for a test that kills it. Arguments: database URL, time.

import { openDatabase } from '../../../src/base/storage/database.ts';
import { createLogoutDeliveries } from '../../../src/protocols/logout/deliveries.ts';
import { servicesOf } from '../../support/services-of.ts';

const [, , databaseUrl = '', time = ''] = process.argv;
const { db, sql, protect } = await openDatabase(databaseUrl);
protect({ isGenuine: () => true } as never);
setInterval(() => {}, 1000); // keeps the process alive
await createLogoutDeliveries({
  ...servicesOf({
    db,
    sql,
    now: () => new Date(time),
    audit: { record: async () => {} } as never,
    logger: { warn() {} } as never,
  }),
  runs: { settle: async () => true } as never,
  send: () => {
    process.stdout.write('calling\n');
    return new Promise(() => {});
  },
  sendSoap: async () => 'sent',
}).run();
