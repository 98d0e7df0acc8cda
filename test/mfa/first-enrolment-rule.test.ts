// Who may set up the first second factor of an account.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../src/people/accounts/account.ts';
import { type FactorsFixture, openFactors } from './fixture.ts';

let fixture: FactorsFixture;
let account: Account;
beforeAll(async () => {
  fixture = await openFactors();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  account = await fixture.person();
  Object.assign(fixture.setting, { first_factor: 'open', first_factor_days: 14, requiredSince: undefined });
});

const isAllowed = async () => fixture.firstEnrolment.isAllowed(account, await fixture.factors.of(account.id));

describe('the first second factor', () => {
  it('may be set up at any time by default', async () => {
    fixture.clock.advance({ days: 400 });
    expect(await isAllowed()).toBe(true);
  });

  it('may be set up in the days after the account was created, or after every user needs one', async () => {
    fixture.setting.first_factor = 'window';
    fixture.clock.advance({ days: 13 });
    expect(await isAllowed()).toBe(true);
    fixture.clock.advance({ days: 1 });
    expect(await isAllowed()).toBe(false);
    fixture.setting.requiredSince = fixture.now();
    expect(await isAllowed()).toBe(true);
    fixture.clock.advance({ days: 14 });
    expect(await isAllowed()).toBe(false);
  });

  it('needs the approval of an administrator, which lasts a week', async () => {
    const { firstEnrolment, setting, clock } = fixture;
    setting.first_factor = 'approval';
    expect(await isAllowed()).toBe(false);
    await expect(firstEnrolment.demandApproval(account, {})).rejects.toMatchObject({ status: 403 });
    await expect(firstEnrolment.demandApproval(account, {})).rejects.toMatchObject({ status: 403 });
    expect((await firstEnrolment.waiting()).map(({ id }) => id)).toContain(account.id);
    await firstEnrolment.allow(account.id, { actorId: 'admin' });
    expect(await firstEnrolment.waiting()).toEqual([]);
    expect(await isAllowed()).toBe(true);
    clock.advance({ days: 7 });
    expect(await isAllowed()).toBe(false);
    const events = await fixture.audit.list({ subjectId: account.id });
    const types = events.map(({ type }) => type).filter((type) => type.startsWith('factors.'));
    expect(types.sort()).toEqual(['factors.approval-requested', 'factors.approved']);
  });

  it('may be set up again after an administrator removed all factors', async () => {
    fixture.setting.first_factor = 'approval';
    await fixture.factors.reset(account.id, { actorId: 'admin' });
    expect(await isAllowed()).toBe(true);
  });

  it('is not limited for a user who has another one', async () => {
    fixture.setting.first_factor = 'approval';
    await fixture.totp.importSecret(account.id, 'JBSWY3DPEHPK3PXP');
    expect(await isAllowed()).toBe(true);
  });
});
