// Owners invite addresses: the invited person signs in or creates an account with the mailed link. What an owner, a former owner, a stranger
// and the holder of a forwarded mail must not reach.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { Group } from '../../src/people/groups/read.ts';
import { completeSignIn } from '../oidc/support.ts';
import { linkIn, mailOf, NEW_PASSWORD, open } from '../recovery/support.ts';
import { testClock } from '../support/clock.ts';
import { itOnBothInLongRun, itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { textOf } from '../support/pages/html.ts';

let box: Mailbox;
let idp: TestIdp;
const clock = testClock();
// The OIDC engine reads the real time, which these tests reach at their end.
clock.set({ days: -11 });
let count = 0;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url }, now: clock.now });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

async function signedIn(user: TestUser): Promise<HttpClient> {
  const client = httpClient(idp.issuer);
  await completeSignIn(client, '/login', { user, redirectUri: `${idp.issuer}/auth/callback` });
  await client.follow(await client.get('/account'));
  return client;
}

interface Lab {
  group: Group;
  owner: TestUser;
  browser: HttpClient;
  /** Sends the form on the page of the group. */
  invite(email: string, until?: string): Promise<Page>;
  page(): Promise<Page>;
}

/** A group with an owner of its own. */
async function aLab(): Promise<Lab> {
  count += 1;
  const owner = await aUser(idp.services);
  const group = await idp.services.groups.create({ name: `Lab ${count}` });
  await idp.services.groups.appointOwner(group.id, { userId: owner.account.id });
  const browser = await signedIn(owner);
  const page = async () => browser.follow(await browser.get(`/account/groups/${group.id}`));
  const invite = async (email: string, until = '') =>
    browser.follow(await browser.submit(await page(), { email, until }, { form: '/invite' }));
  return { group, owner, browser, invite, page };
}

const subjectOf = ({ group }: Lab) => `Invitation to the group ${group.name}`;
const linkTo = async (email: string, lab: Lab) => linkIn(await mailOf(box, email, subjectOf(lab)));
const memberIds = async ({ group }: Lab) => (await idp.services.groups.members(group.id)).map(({ userId }) => userId);
const setting = async (name: 'invite_domains' | 'self_registration', value: never) => {
  await idp.services.settings.set(name, value);
  await idp.services.settings.reload();
};
function aNewAddress(): string {
  count += 1;
  return `new-${count}@example.com`;
}
/** The invitation as the service accepts it. */
async function invitationOf(lab: Lab, email = aNewAddress()) {
  await lab.invite(email);
  const token = new URL(await linkTo(email, lab)).searchParams.get('token') ?? '';
  const invitation = await idp.services.groupInvitations.find(token);
  if (!invitation) throw new Error('no invitation');
  return { token, invitation, email };
}
const found = (token: string) => idp.services.groupInvitations.find(token);

describe('a new owner', () => {
  itOnSqlite(
    'gets one mail with the end and a link to the group, and none when the appointment is confirmed',
    async () => {
      const { groups, db } = idp.services;
      const group = await groups.create({ name: 'Mailed Lab' });
      const { account } = await aUser(idp.services);
      const email = account.email ?? '';
      const until = new Date('2099-07-31T12:00:00Z');
      for (let time = 0; time < 2; time += 1) await groups.appointOwner(group.id, { userId: account.id, until });
      const { text } = await mailOf(box, email, 'You now manage the group Mailed Lab');
      expect(text.replace(/\s+/g, ' ')).toContain('You now manage the group Mailed Lab until July 31, 2099');
      expect(text).toContain(`${idp.issuer}/account/groups/${group.id}`);
      expect(await db.mailMessage.count({ where: { recipient: email } })).toBe(1);
    },
  );
});

describe('an invitation', () => {
  itOnBothInLongRun('to an address without an account makes the account, while sign-up is off', async () => {
    const lab = await aLab();
    const email = aNewAddress();
    const answer = await lab.invite(email, '2099-07-31');
    expect(textOf(answer.text)).toContain(`We’ll email an invitation to ${email}`);
    expect(await idp.services.accounts.findByLogin(email)).toBeUndefined();
    const mail = await mailOf(box, email, subjectOf(lab));
    const text = mail.text.replace(/\s+/g, ' ');
    expect(text).toContain(`${lab.owner.username} invites you to the group ${lab.group.name}`);
    expect(text).toContain('until July 31, 2099');
    const { browser, page } = await open(idp, linkIn(mail));
    expect(textOf(page.text)).toContain(`Join ${lab.group.name}?`);
    expect(textOf(page.text)).toContain(`${lab.owner.username} invites you`);
    expect(textOf(page.text)).toContain('until July 31, 2099');
    const weak = await browser.submit(page, { password: 'short' });
    expect(weak.status).toBe(400);
    expect(await idp.services.accounts.findByLogin(email)).toBeUndefined();
    const done = await browser.follow(await browser.submit(weak, { name: 'Nia New', password: NEW_PASSWORD }));
    expect(textOf(done.text)).toContain('Your account is ready');
    const account = await idp.services.accounts.findByLogin(email);
    expect(account).toMatchObject({
      email,
      emailVerified: true,
      name: 'Nia New',
      groups: [{ name: lab.group.name, until: new Date('2099-07-31T23:59:59Z') }],
    });
    expect(textOf((await lab.page()).text)).toContain('Accepted');
    const events = await idp.services.audit.list({ partyId: account?.id ?? '' });
    expect(events.map(({ type, actorId }) => [type, actorId])).toEqual(
      expect.arrayContaining([
        ['group.invitation-accepted', account?.id],
        ['group.member-added', lab.owner.account.id],
        ['account.registered', account?.id],
      ]),
    );
    expect((await browser.get('/join')).status).toBe(400);
  });

  itOnSqlite('to an address with an account asks after the sign-in, and looks the same to the owner', async () => {
    const lab = await aLab();
    const person = await aUser(idp.services);
    const [known, unknown] = [person.account.email ?? '', aNewAddress()];
    const [one, other] = [await aLab(), await aLab()];
    const neutral = (page: Page, email: string, { group, owner }: Lab) => [
      page.status,
      textOf(page.text).replaceAll(email, '…').replaceAll(group.name, 'Lab').replaceAll(owner.username, ''),
    ];
    expect(neutral(await one.invite(known), known, one)).toEqual(neutral(await other.invite(unknown), unknown, other));
    await lab.invite(known);
    const link = await linkTo(known, lab);
    const browser = httpClient(idp.issuer);
    const start = await browser.follow(await browser.get(link));
    expect(textOf(start.text)).not.toContain(lab.group.name);
    await completeSignIn(browser, start.url, { user: person, redirectUri: `${idp.issuer}/auth/callback` });
    const question = await browser.follow(await browser.get('/join'));
    expect(textOf(question.text)).toContain(`Join ${lab.group.name}?`);
    const joined = await browser.follow(await browser.submit(question, {}));
    expect(textOf(joined.text)).toContain(`You’re now in the group ${lab.group.name}`);
    expect(await memberIds(lab)).toEqual([person.account.id]);
  });

  itOnSqlite('proves the mailbox: the address of the account is verified', async () => {
    const lab = await aLab();
    const person = await aUser(idp.services, { emailVerified: false });
    const { invitation } = await invitationOf(lab, person.account.email ?? '');
    await idp.services.groupInvitations.accept(invitation, person.account.id, {});
    expect((await idp.services.accounts.find(person.account.id))?.emailVerified).toBe(true);
  });

  itOnSqlite('admits only the account with its address, also by a forwarded mail', async () => {
    const lab = await aLab();
    const [invited, other] = [await aUser(idp.services), await aUser(idp.services)];
    await lab.invite(invited.account.email ?? '');
    const link = await linkTo(invited.account.email ?? '', lab);
    const browser = await signedIn(other);
    const question = await browser.follow(await browser.get(link));
    const refused = await browser.follow(await browser.submit(question, {}));
    expect(refused.status).toBe(400);
    expect(textOf(refused.text)).toContain('This invitation is for another email address');
    expect(await memberIds(lab)).toEqual([]);
    const [event] = await idp.services.audit.list({
      types: ['group.invitation-accepted'],
      subjectId: other.account.id,
    });
    expect(event).toMatchObject({ outcome: 'failure', reason: 'other_account', actorId: other.account.id });
    // A look-alike of the address is another mailbox, although no two accounts can have them.
    const { invitation } = await invitationOf(lab, 'zo\u0435@example.org');
    const zoe = await aUser(idp.services, { email: 'zoe@example.org', emailVerified: false });
    await expect(idp.services.groupInvitations.accept(invitation, zoe.account.id, {})).rejects.toMatchObject({
      code: 'link_invalid',
    });
    expect((await idp.services.accounts.find(zoe.account.id))?.emailVerified).toBe(false);
  });

  it('works once, and makes one account of two at the same time', async () => {
    const lab = await aLab();
    const { email, invitation } = await invitationOf(lab);
    const link = `${idp.issuer}/join?token=`;
    expect((await open(idp, `${link}${'x'.repeat(43)}`)).page.status).toBe(400);
    const { token } = await invitationOf(lab, aNewAddress());
    const two = await Promise.all([open(idp, link + token), open(idp, link + token)]);
    const answers = await Promise.all(
      two.map(async ({ browser, page }) => browser.follow(await browser.submit(page, { password: NEW_PASSWORD }))),
    );
    expect(answers.filter(({ text }) => textOf(text).includes('Your account is ready'))).toHaveLength(1);
    expect(await memberIds(lab)).toHaveLength(1);
    const person = await aUser(idp.services, { email });
    const accept = () => idp.services.groupInvitations.accept(invitation, person.account.id, {});
    const outcomes = await Promise.allSettled([accept(), accept(), accept()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  itOnSqlite('expires after seven days, and is listed for a month', async () => {
    const lab = await aLab();
    const { token } = await invitationOf(lab);
    clock.advance({ days: limits.groups.invitationDays });
    expect(await found(token)).toBeUndefined();
    expect((await idp.services.groupInvitations.of(lab.group.id)).map(({ state }) => state)).toEqual(['expired']);
  });

  itOnSqlite('is withdrawn by an owner of its group', async () => {
    const lab = await aLab();
    const { token, invitation } = await invitationOf(lab);
    const stranger = await aLab();
    const path = `/account/groups/${stranger.group.id}/withdraw-invitation`;
    const _csrf = (await stranger.page()).forms.find(({ fields }) => fields._csrf)?.fields._csrf ?? '';
    const headers = { origin: idp.issuer, 'sec-fetch-site': 'same-origin' };
    const form = { _csrf, invitation: invitation.id };
    expect((await stranger.browser.post(path, { form, headers })).status).toBe(404);
    const page = await lab.page();
    const gone = await lab.browser.follow(await lab.browser.submit(page, {}, { form: 'withdraw-invitation' }));
    expect(textOf(gone.text)).toContain('Invitation withdrawn');
    expect(await found(token)).toBeUndefined();
  });

  itOnSqlite('is replaced by a further one to the same address', async () => {
    const lab = await aLab();
    const { token, email } = await invitationOf(lab);
    const again = await invitationOf(lab, email);
    expect(await found(token)).toBeUndefined();
    expect(await found(again.token)).toBeDefined();
    expect(await idp.services.groupInvitations.of(lab.group.id)).toHaveLength(1);
  });
});

describe('an owner', () => {
  itOnSqlite('invites one address, in any way of writing it, and no more', async () => {
    const lab = await aLab();
    const wide = 'wide\uff20example.org';
    expect(textOf((await lab.invite(wide)).text)).toContain('We’ll email an invitation');
    expect(await linkTo('wide@example.org', lab)).toContain('/join?token=');
    for (const email of [
      'a@b@example.com',
      'a@example.com,b@example.com',
      'a@example.com\nbcc: b@example.com',
      'a',
      '',
    ])
      expect(textOf((await lab.invite(email)).text), email).toContain('Enter an email address');
    expect(await idp.services.groupInvitations.of(lab.group.id)).toHaveLength(1);
  });

  it('who is removed while people accept admits them before, or nobody', async () => {
    const labs = [await aLab(), await aLab(), await aLab()];
    const accepting = await Promise.all(
      labs.map(async (lab) => {
        const person = await aUser(idp.services);
        return { lab, person, ...(await invitationOf(lab, person.account.email ?? '')) };
      }),
    );
    await Promise.all(
      accepting.map(async ({ lab, person, invitation, token }) => {
        const accept = idp.services.groupInvitations.accept(invitation, person.account.id, {});
        const dismiss = idp.services.groups.dismissOwner(lab.group.id, lab.owner.account.id);
        const [accepted, dismissed] = await Promise.allSettled([accept, dismiss]);
        expect(dismissed).toMatchObject({ status: 'fulfilled', value: true });
        if (accepted.status === 'rejected')
          expect(accepted.reason).toMatchObject({ code: expect.stringMatching(/^(link_invalid|invitation_closed)$/) });
        expect(await memberIds(lab)).toEqual(accepted.status === 'fulfilled' ? [person.account.id] : []);
        expect(await found(token)).toBeUndefined();
      }),
    );
  });

  itOnBothInLongRun('whose account or group was deleted admits nobody', async () => {
    const [lab, other] = [await aLab(), await aLab()];
    const [one, two] = [await invitationOf(lab), await invitationOf(other)];
    await idp.services.accounts.remove(lab.owner.account.id);
    expect((await open(idp, `${idp.issuer}/join?token=${one.token}`)).page.status).toBe(409);
    await idp.services.groups.remove(other.group.id);
    expect((await open(idp, `${idp.issuer}/join?token=${two.token}`)).page.status).toBe(400);
  });

  it('has at most twenty open invitations, also when many are sent at once', async () => {
    const { group, owner } = await aLab();
    const by = { actorId: owner.account.id };
    const invite = () =>
      idp.services.groupInvitations.invite({ groupId: group.id, email: aNewAddress(), until: null }, { by });
    const outcomes = await Promise.allSettled(Array.from({ length: limits.groups.openInvitations + 4 }, invite));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(limits.groups.openInvitations);
    await expect(invite()).rejects.toMatchObject({ code: 'too_many_invitations' });
  });

  itOnSqlite('invites and adds 30 people a day', async () => {
    const lab = await aLab();
    const by = { actorId: lab.owner.account.id };
    const { groupInvitations, groupOwners } = idp.services;
    const email = aNewAddress();
    for (let tries = 0; tries < limits.rateLimits.groupAdditionsPerAccount.points; tries += 1)
      await groupOwners.add(lab.group.id, { login: `guess-${tries}`, until: null }, { by });
    await expect(groupInvitations.invite({ groupId: lab.group.id, email, until: null }, { by })).rejects.toMatchObject({
      code: 'too_many_requests',
    });
    expect((await lab.invite(email)).status).toBe(429);
  });

  itOnSqlite('invites addresses of the domains in the settings, and no look-alike of them', async () => {
    const lab = await aLab();
    const early = await invitationOf(lab, 'early@elsewhere.example');
    await setting('invite_domains', ['example.com'] as never);
    try {
      for (const email of [
        'a@elsewhere.example',
        'a@sub.example.com',
        'a@ex\u0430mple.com',
        'a@example.com.evil.example',
      ])
        expect(textOf((await lab.invite(email)).text), email).toContain('You can’t invite this email address');
      expect(textOf((await lab.invite('A@EXAMPLE.com')).text)).toContain('We’ll email an invitation');
      // The setting came after the invitation.
      expect((await open(idp, `${idp.issuer}/join?token=${early.token}`)).page.status).toBe(409);
    } finally {
      await setting('invite_domains', [] as never);
    }
  });

  itOnSqlite('invites to no group of others, and none that the file declares', async () => {
    const lab = await aLab();
    const by = { actorId: lab.owner.account.id };
    const sibling = await idp.services.groups.create({ name: `Sibling ${count}` });
    const invite = (groupId: string) =>
      idp.services.groupInvitations.invite({ groupId, email: aNewAddress(), until: null }, { by });
    await expect(invite(sibling.id)).rejects.toMatchObject({ code: 'forbidden' });
    await idp.services.groups.update(lab.group.id, { source: 'file', fileMembers: true });
    await expect(invite(lab.group.id)).rejects.toMatchObject({ code: 'owned_by_file' });
  });

  itOnSqlite('who was removed has no open invitations, in the groups below either', async () => {
    const lab = await aLab();
    const child = await idp.services.groups.create({ name: `Child ${count}` });
    await idp.services.groups.addChild(lab.group.id, child.id);
    const by = { actorId: lab.owner.account.id };
    const { token } = await invitationOf(lab);
    await idp.services.groupInvitations.invite({ groupId: child.id, email: aNewAddress(), until: null }, { by });
    await idp.services.groups.dismissOwner(lab.group.id, lab.owner.account.id);
    expect(await found(token)).toBeUndefined();
    expect(await idp.services.groupInvitations.of(child.id)).toEqual([]);
    await idp.services.groups.appointOwner(lab.group.id, { userId: lab.owner.account.id });
    expect(await found(token)).toBeUndefined();
  });

  itOnSqlite.each([
    ['is disabled', async ({ owner }: Lab) => void (await idp.services.accounts.setActive(owner.account.id, false))],
    [
      'has not confirmed a later role',
      async ({ group }: Lab) => {
        await idp.services.roles.create({ name: `late-${count}`, permissions: ['late:use'] });
        await idp.services.groups.addRole(group.id, `late-${count}`);
      },
    ],
    [
      'owns a group that became sensitive',
      async ({ group }: Lab) => {
        await idp.services.roles.create({ name: `staff-${count}`, permissions: ['staff:use'] });
        await idp.services.groups.addRole(group.id, `staff-${count}`);
        await idp.services.groups.appointOwner(group.id, { userId: owners.get(group.id)?.account.id ?? '' });
        const role = await idp.services.db.role.findUniqueOrThrow({ where: { name: `staff-${count}` } });
        const later = { permissions: ['gatehouse.users:read'], source: 'file' } as const;
        await idp.services.roles.update(role.name, later);
      },
    ],
    ['has reached the end', async () => void clock.advance({ days: 2 })],
    [
      'has reached the end, and the job has run',
      async () => {
        clock.advance({ days: 2 });
        await idp.services.ends.tidy();
      },
    ],
  ])('who %s admits nobody, and the page says so', async (_why, change) => {
    const lab = await aLab();
    owners.set(lab.group.id, lab.owner);
    const until = new Date(clock.now().getTime() + 24 * 3_600_000);
    await idp.services.groups.appointOwner(lab.group.id, {
      userId: lab.owner.account.id,
      until: _why.includes('end') ? until : null,
    });
    const { token, email } = await invitationOf(lab);
    const { browser, page } = await open(idp, `${idp.issuer}/join?token=${token}`);
    await change(lab);
    const refused = await browser.follow(await browser.submit(page, { password: NEW_PASSWORD }));
    // The job deletes the invitations of an owner whose time has ended.
    const [status, text] = _why.includes('job')
      ? [400, 'This link is invalid or expired']
      : [409, 'This invitation can’t be accepted anymore'];
    expect(refused.status).toBe(status);
    expect(textOf(refused.text)).toContain(text);
    expect((await open(idp, `${idp.issuer}/join?token=${token}`)).page.status).toBe(status);
    expect(await idp.services.accounts.findByLogin(email)).toBeUndefined();
    expect(await memberIds(lab)).toEqual([]);
  });
});

const owners = new Map<string, TestUser>();
