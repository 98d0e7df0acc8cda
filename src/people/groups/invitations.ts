// Invitations: an owner invites an address by a mailed link, whether or not it has an account. The link proves the mailbox and nothing else:
// it admits the account that has this address, or makes one. Nothing is looked up when the owner invites, so that neither the answer nor its
// time tells whether the address has an account.
import {
  AppError,
  badRequest,
  conflict,
  invalidInput,
  notFound,
  ownedByFile,
  tooManyRequests,
} from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomId, randomToken, sha256 } from '../../base/platform/random.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockGroups, lockRow } from '../../base/storage/row-lock.ts';
import { textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { AuditEventType } from '../../core/audit/events.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { emailFault, isInDomains, isSameAddress, nameKey } from '../accounts/names.ts';
import type { MailLimits, RateLimits } from '../rate-limits/rate-limits.ts';
import { assertTimes } from '../rbac/assign-roles.ts';
import type { Groups } from './groups.ts';
import type { GroupChange } from './rights.ts';

const DAY = 24 * 3600 * 1000;
/** Invitations that a page lists. */
const LISTED = 100;
/** In the audit log, the reason behind one of the errors `link_invalid`. */
const OTHER_ACCOUNT = 'other_account';

/** One that can be accepted, of a link. */
export interface GroupInvitation {
  id: string;
  group: { id: string; name: string };
  email: string;
  /** Of the membership. */
  until: Date | null;
  /** The account. */
  invitedBy: string;
}

/** As an owner sees it: nothing tells whether the address has an account. */
export interface ListedInvitation {
  id: string;
  email: string;
  until: Date | null;
  createdAt: Date;
  expiresAt: Date;
  state: 'open' | 'accepted' | 'expired';
}

interface NewInvitation {
  groupId: string;
  /** As typed. */
  email: string;
  /** Of the membership; null: no end. */
  until: Date | null;
}

export function createGroupInvitations(
  core: Core & { groups: Groups; accounts: Accounts; rateLimits: RateLimits; mailLimits: MailLimits },
) {
  const { db, sql, now, audit, outbox, settings, groups, accounts, rateLimits, mailLimits, repeatedEntries } = core;

  const isOpen = () => ({ acceptedAt: null, expiresAt: { gt: now() } });
  const accepts = (email: string) => isInDomains(email, settings.latest().invite_domains);

  const record = (
    type: AuditEventType,
    { group, email, until }: { group: { id: string; name: string }; email: string; until: Date | null },
    { by = {} }: GroupChange,
    tx: Tx,
    subjectId?: string,
  ) => {
    const event = { ...by, type, outcome: 'success', ...(subjectId !== undefined && { subjectId }) } as const;
    return audit.record({ ...event, data: { groupId: group.id, groupName: group.name, recipient: email, until } }, tx);
  };

  /** Throws what putting the person in would throw. */
  async function assertMayInvite(groupId: string, { by = {} }: GroupChange, tx: Tx): Promise<void> {
    const group = await groups.get(groupId, tx);
    if (group.source === 'file' && group.fileMembers) throw ownedByFile('group', group);
    await groups.assertMayPut(groupId, 'invitation', { by }, tx);
  }

  /**
   * Mails a link to the address; a further invitation of the same owner replaces it. Throws invalid_input, not_found, forbidden,
   * group_unconfirmed, group_sensitive, owned_by_file, too_many_invitations (409) and too_many_requests (429): the additions of an owner
   * by name count as well.
   */
  async function invite(
    { groupId, email: typed, until }: NewInvitation,
    { by = {} }: GroupChange,
    onCreated: (invitation: ListedInvitation, tx: Tx) => Promise<void> = async () => {},
  ): Promise<ListedInvitation> {
    // As its syntax is checked: a full-width @ is no mail address as it stands.
    const email = typed.normalize('NFKC').trim();
    if (emailFault(email)) throw invalidInput([textFault(['email'], t('registration.invalid-email'))]);
    if (!accepts(email)) throw invalidInput([textFault(['email'], t('groups.invite-other-domain'))]);
    const at = now();
    assertTimes({ since: null, until }, at);
    const { actorId: invitedBy = '' } = by;
    await assertMayInvite(groupId, { by }, db);
    const counted = await rateLimits.consume('group-additions:account', invitedBy);
    if (!counted.allowed) throw tooManyRequests(counted.retryAfterSeconds);
    const mails = await mailLimits.to(email, 'group-invitation');
    if (!mails.allowed) throw tooManyRequests(mails.retryAfterSeconds);
    return transaction(db, async (tx) => {
      await lockGroups(tx, sql, 'shared');
      await assertMayInvite(groupId, { by }, tx);
      await lockRow(tx, sql, 'users', invitedBy);
      const emailKey = nameKey(email);
      await tx.groupInvitation.deleteMany({ where: { groupId, emailKey, invitedBy, acceptedAt: null } });
      const open = await tx.groupInvitation.count({ where: { invitedBy, ...isOpen() } });
      if (open >= limits.groups.openInvitations) throw conflict('too_many_invitations');
      const [id, token] = [randomId(), randomToken(limits.resetToken.bytes)];
      const week = new Date(at.getTime() + limits.groups.invitationDays * DAY);
      const expiresAt = until && until < week ? until : week;
      const row = { id, groupId, email, emailKey, tokenHash: sha256(token), until, invitedBy, acceptedAt: null };
      await tx.groupInvitation.create({ data: { ...row, createdAt: at, expiresAt } });
      const group = await groups.get(groupId, tx);
      const to = { email, pageLanguage: by.request?.language };
      const inviter = (await accounts.find(invitedBy, tx))?.username ?? '';
      const mail = { inviter, group: group.name, memberUntil: until, token, until: expiresAt };
      await outbox.send({ to, kind: 'group-invitation', ...mail }, tx);
      await record('group.invitation-sent', { group, email, until }, { by }, tx);
      const made: ListedInvitation = { id, email, until, createdAt: at, expiresAt, state: 'open' };
      await onCreated(made, tx);
      return made;
    });
  }

  /** By an owner of the group; throws not_found, changed_meanwhile (409) when it was accepted. */
  function withdraw(id: string, groupId: string, { by = {} }: GroupChange): Promise<void> {
    return transaction(db, async (tx) => {
      const found = await tx.groupInvitation.findFirst({ where: { id, groupId }, include: { group: true } });
      if (!found) throw notFound();
      const { count } = await tx.groupInvitation.deleteMany({ where: { id, acceptedAt: null } });
      if (count === 0) throw conflict('changed_meanwhile');
      await record('group.invitation-withdrawn', found, { by }, tx);
    });
  }

  /** The invitation of a link; undefined when it does not work (any more). Does not use it up. */
  async function find(token: string): Promise<GroupInvitation | undefined> {
    const where = { tokenHash: sha256(token), ...isOpen() };
    const row = await db.groupInvitation.findFirst({ where, include: { group: true } });
    if (!row) return undefined;
    const { id, groupId, group, email, until, invitedBy } = row;
    return { id, group: { id: groupId, name: group.name }, email, until, invitedBy };
  }

  /** The inviter, who must be able to put people in at this moment. Throws invitation_closed (409). */
  async function assertStands({ group, email, invitedBy }: GroupInvitation, tx: Tx): Promise<Account> {
    const inviter = await accounts.find(invitedBy, tx);
    if (!inviter?.isActive || !accepts(email)) throw conflict('invitation_closed');
    await ifStands(() => assertMayInvite(group.id, { by: { actorId: invitedBy } }, tx));
    return inviter;
  }

  return {
    invite,
    withdraw,
    find,
    assertStands: (invitation: GroupInvitation) => assertStands(invitation, db),

    /**
     * Makes the account a member in the name of the inviter, and its address a verified one; `prepare` may make the account before. Throws
     * invitation_closed (409) when the inviter may not put people in any more, and link_invalid (400) for a used link and for an account with
     * another address: a forwarded invitation admits nobody.
     */
    async accept(
      invitation: GroupInvitation,
      accountId: string,
      { by = {} }: GroupChange,
      prepare: (tx: Tx) => Promise<void> = async () => {},
    ): Promise<void> {
      const { id, group, email, until, invitedBy } = invitation;
      const actor = { ...by, actorId: accountId };
      try {
        await transaction(db, async (tx) => {
          await prepare(tx);
          await lockGroups(tx, sql, 'shared');
          const data = { acceptedAt: now(), acceptedBy: accountId };
          const { count } = await tx.groupInvitation.updateMany({ where: { id, ...isOpen() }, data });
          if (count === 0) throw badRequest('link_invalid');
          await assertStands(invitation, tx);
          const account = await accounts.find(accountId, tx);
          if (!account?.isActive || account.email === null || !isSameAddress(account.email, email))
            throw badRequest('link_invalid', { message: t('join.other-account'), detail: OTHER_ACCOUNT });
          if (!account.emailProven) {
            await accounts.update(accountId, { emailVerified: true, emailProven: true }, actor, tx);
            await audit.record({ ...actor, type: 'email.verified', outcome: 'success', subjectId: accountId }, tx);
          }
          const member = { userId: accountId, until };
          const options = { by: { actorId: invitedBy }, tx, via: 'invitation' } as const;
          await ifStands(() => groups.addMembers(group.id, [member], options));
          await record('group.invitation-accepted', invitation, { by: actor }, tx, accountId);
        });
      } catch (error) {
        const reason = auditedReason(error);
        const event = { type: 'group.invitation-accepted', outcome: 'failure', subjectId: accountId } as const;
        const data = { groupId: group.id, groupName: group.name };
        if (reason !== undefined) await repeatedEntries.record({ ...actor, ...event, reason, data });
        throw error;
      }
    },

    /** The invitations to a group, the latest first. Those that were accepted or expired are listed for a month. */
    async of(groupId: string): Promise<ListedInvitation[]> {
      const rows = await db.groupInvitation.findMany({
        where: { groupId },
        orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
        take: LISTED,
      });
      return rows.map(({ id, email, until, createdAt, expiresAt, acceptedAt }) => ({
        id,
        email,
        until,
        createdAt,
        expiresAt,
        state: acceptedAt ? 'accepted' : expiresAt > now() ? 'open' : 'expired',
      }));
    },
  };
}

/** Why nobody was admitted by a link that works; undefined for every other error. */
function auditedReason(error: unknown): string | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.detail === OTHER_ACCOUNT) return OTHER_ACCOUNT;
  return error.code === 'invitation_closed' ? error.code : undefined;
}

/** What stops an owner now stops the invited person with one answer, which does not tell them why. */
async function ifStands<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && error.status < 500) throw conflict('invitation_closed', { cause: error });
    throw error;
  }
}
