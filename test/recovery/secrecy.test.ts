// Token and password are in the mail only: not in the log, the audit or any table.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sha256 } from '../../src/base/platform/random.ts';
import type { Services } from '../../src/server/services.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { mailIsIdle, NEW_PASSWORD, redeem, resetLink } from './support.ts';

let box: Mailbox;
let idp: TestIdp;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url, LOG_LEVEL: 'trace' } });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

/** Every value of every table, as text. */
async function dump({ db }: Services): Promise<string> {
  const tables = Object.keys(db).filter((name) => !/^[_$]/.test(name)) as (keyof typeof db)[];
  const contents = await Promise.all(
    tables.map((table) => (db[table] as { findMany?(): Promise<unknown[]> }).findMany?.() ?? []),
  );
  return JSON.stringify(contents, (_key, value: unknown) =>
    typeof value === 'bigint' || value instanceof Uint8Array ? String(value) : value,
  );
}

it('a reset keeps token and password out of log, audit and database', async () => {
  const user = await aUser(idp.services);
  const link = await resetLink(idp, box, user.username, user.account.email ?? '');
  const token = new URL(link).searchParams.get('token') ?? '';
  const before = await dump(idp.services);
  expect(before).toContain(sha256(token)); // the dump shows what is stored
  const rejected = await redeem(idp, link, 'secretshort');
  expect(rejected.status).toBe(400);
  await redeem(idp, link);
  await redeem(idp, link); // used: the failure is noted, too
  await redeem(idp, `${idp.issuer}/reset-password?token=${'Zz9-'.repeat(11)}`);
  await mailIsIdle(idp.services);
  const everywhere = { before, after: await dump(idp.services), log: idp.log.join('\n') };
  expect(everywhere.log).toContain('/reset-password');
  for (const [place, text] of Object.entries(everywhere)) {
    const secrets = [token, NEW_PASSWORD, 'secretshort', 'Zz9-Zz9-', user.password];
    expect(
      secrets.filter((secret) => text.includes(secret)),
      place,
    ).toEqual([]);
  }
});
