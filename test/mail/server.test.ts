// Mail of a running server without SMTP_URL: written to files, counted in the metrics, deleted after a week.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { shortSweepWait } from '../support/waits.ts';
import { ann } from './support.ts';

const metricsToken = 'the-token-of-the-monitoring-server';
let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp({ environment: { METRICS_TOKEN: metricsToken } });
});
afterAll(() => idp?.stop());

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; !(await condition()); tries += 1) {
    if (tries > 800) throw new Error('the condition was not met within 20 s');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

describe('a server without SMTP_URL', () => {
  it('logs that there is no mail server, writes mail into its data folder, and counts it', async () => {
    const folder = path.join(String(idp.environment.DATA_DIR), 'outbox');
    expect(idp.log.join()).toContain('no mail server is set');
    await idp.services.outbox.send({ kind: 'no-password-here', to: ann });
    await until(async () => (await idp.services.db.mailMessage.count({ where: { sentAt: { not: null } } })) === 1);
    expect(readdirSync(folder).filter((name) => name.endsWith('.eml'))).toHaveLength(1);
    const headers = { authorization: `Bearer ${metricsToken}` };
    const { text } = await httpClient(idp.issuer).get('/metrics', { headers });
    expect(text).toContain('gatehouse_mails_total{outcome="written"} 1');
  });

  it('deletes mail that was sent or given up a week ago', async () => {
    const { db, now } = idp.services;
    const ago = (days: number) => new Date(now().getTime() - days * 86_400_000);
    const { keepDays } = limits.mail;
    const row = { recipient: ann.email, subject: 'x', bodySealed: '', nextTryAt: ago(keepDays + 2) };
    await db.mailMessage.createMany({
      data: [
        { ...row, id: 'sent', sentAt: ago(keepDays + 1) },
        { ...row, id: 'failed', failedAt: ago(keepDays + 1) },
        { ...row, id: 'recent', sentAt: ago(keepDays - 1) },
      ],
    });
    await idp.stop();
    // A server sweeps shortly after its start, unless the last sweep was less than a minute ago.
    const { everySeconds } = limits.sweep;
    shortSweepWait();
    const nextTurn = () => new Date(Date.now() + 2 * everySeconds * 1000);
    idp = await startIdp({ environment: { ...(idp.environment as Record<string, string>) }, now: nextTurn });
    const remaining = async () => (await idp.services.db.mailMessage.findMany()).map(({ id }) => id);
    await until(async () => !(await remaining()).includes('sent') && !(await remaining()).includes('failed'));
    expect(await remaining()).toContain('recent');
  });
});
