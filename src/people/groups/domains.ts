// Groups by proven domain: who has an address of the domain, and has proven it here or at an upstream that is trusted, joins at sign-in, and
// leaves when the address changes or the domain loses its proof. A domain that the configuration file declares is proven.
import { conflict, invalidInput, notFound } from '../../base/http/errors.ts';
import {
  type DomainCheck,
  type DomainProof,
  domainOf,
  isProofDue,
  lookUpProof,
  newChallenge,
  proofRecord,
} from '../../base/network/domains.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockGroups, lockRow } from '../../base/storage/row-lock.ts';
import { fault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Groups } from './groups.ts';
import { type Group, pagesOfIds } from './read.ts';
import type { GroupChange } from './rights.ts';

export interface GroupDomain extends DomainProof {
  groupId: string;
}

/** Domains of a group. */
const MOST = 50;
/** A change of as many people as there are. */
const LONG = { timeout: 120_000 };

const sourceOf = (domain: string) => `domain:${domain}` as const;

export type GroupDomains = ReturnType<typeof createGroupDomains>;

export function createGroupDomains(core: Core & { groups: Groups; accounts: Accounts }) {
  const { db, sql, now, audit, groups, accounts } = core;

  /** Those of a group, or of all. A domain whose row another program changed is not proven. */
  async function list(groupId?: string, tx: Tx = db): Promise<GroupDomain[]> {
    const where = groupId === undefined ? {} : { groupId };
    const rows = await tx.groupDomain.findMany({ where, orderBy: [{ domain: 'asc' }, { groupId: 'asc' }] });
    return rows.map(({ challenge, mac: _mac, ...row }) => ({ ...row, record: proofRecord(row.domain, challenge) }));
  }

  function record(type: 'added' | 'removed' | 'proven' | 'lost', group: Group, domain: string, by: Actor, tx: Tx) {
    const data = { groupId: group.id, groupName: group.name, domain };
    return audit.record({ ...by, type: `group.domain-${type}`, outcome: 'success', data }, tx);
  }

  /** Takes out who is in the group by the domain. */
  async function takeMembers(group: Group, domain: string, by: Actor, tx: Tx): Promise<void> {
    const userIds: string[] = [];
    for await (const page of pagesOfIds({ groupId: group.id, source: sourceOf(domain) }, tx)) userIds.push(...page);
    if (userIds.length > 0) await groups.removeMembers(group.id, userIds, { by, tx, via: sourceOf(domain) });
  }

  async function check({ groupId, domain, ...proof }: GroupDomain, by: Actor = {}): Promise<DomainCheck> {
    const found = await lookUpProof(core, { domain, ...proof });
    if (found === 'unreachable') return found;
    const isProven = found === 'proven';
    const provenAt = isProven ? (proof.provenAt ?? now()) : null;
    await transaction(
      db,
      async (tx) => {
        // Nobody joins by the domain until its members have left.
        await lockGroups(tx, sql, 'exclusive');
        const where = { groupId_domain: { groupId, domain } };
        const row = await tx.groupDomain.findUnique({ where });
        if (!row || proofRecord(domain, row.challenge).value !== proof.record.value) return;
        const { challenge } = row;
        const data = { groupId, domain, challenge, provenAt, checkedAt: now() };
        await tx.groupDomain.update({ where, data, select: { domain: true } });
        if (isProven === (row.provenAt !== null)) return;
        const group = await groups.get(groupId, tx);
        await record(isProven ? 'proven' : 'lost', group, domain, by, tx);
        if (!isProven) await takeMembers(group, domain, by, tx);
      },
      LONG,
    );
    return found;
  }

  /** The groups of the domain that the account's address is in, if the user has proven the address. */
  async function groupsOf({ email, emailProven }: Account, tx: Tx): Promise<{ domain: string; groupIds: string[] }> {
    const domain = email === null || !emailProven ? '' : domainOf(email);
    if (domain === '') return { domain, groupIds: [] };
    const rows = await tx.groupDomain.findMany({ where: { domain, provenAt: { not: null } } });
    const groupIds = [];
    for (const { groupId } of rows) if (await groups.mayJoin(groupId, sourceOf(domain), tx)) groupIds.push(groupId);
    return { domain, groupIds };
  }

  return {
    list,

    /** Adds a domain; one of the file is proven. False where the group has it already. Throws group_sensitive (409), forbidden, owned_by_file, invalid_input. */
    add: (groupId: string, domain: string, options: GroupChange = {}): Promise<boolean> =>
      groups.changing(groupId, options, async (group, tx) => {
        if (await groups.isSensitive(groupId, tx)) throw conflict('group_sensitive');
        const isDeclared = options.source === 'file';
        const where = { groupId_domain: { groupId, domain } };
        const row = await tx.groupDomain.findUnique({ where });
        if (row && (row.provenAt !== null || !isDeclared)) return false;
        if (!row && (await tx.groupDomain.count({ where: { groupId } })) >= MOST)
          throw invalidInput([fault(['domain'], 'max-entries', { entries: MOST })]);
        const provenAt = isDeclared ? now() : null;
        const challenge = row?.challenge ?? newChallenge();
        const data = { groupId, domain, challenge, provenAt, checkedAt: provenAt };
        await tx.groupDomain.upsert({ where, create: data, update: data });
        await record(row ? 'proven' : 'added', group, domain, options.by ?? {}, tx);
        return true;
      }),

    /** Removes a domain; its members leave the group. False where the group does not have it. */
    remove: (groupId: string, domain: string, options: GroupChange = {}): Promise<boolean> =>
      groups.changing(groupId, options, async (group, tx) => {
        const { count } = await tx.groupDomain.deleteMany({ where: { groupId, domain } });
        if (count === 0) return false;
        await record('removed', group, domain, options.by ?? {}, tx);
        await takeMembers(group, domain, options.by ?? {}, tx);
        return true;
      }),

    /** Looks the record up now. Throws not_found (404). */
    async check(groupId: string, domain: string, by?: Actor): Promise<DomainCheck> {
      const one = (await list(groupId)).find((row) => row.domain === domain);
      if (!one) throw notFound({ message: t('console.groups.no-domain', { domain }) });
      return check(one, by);
    },

    /** Checks those that are due; for the job. The file itself is the proof of what it declares. */
    async checkDue(signal: AbortSignal): Promise<void> {
      const due = (await list()).filter((domain) => isProofDue(domain, now()));
      const sources = new Map(
        (await groups.listByIds(due.map((one) => one.groupId))).map((one) => [one.id, one.source]),
      );
      for (const domain of due) {
        if (signal.aborted) return;
        if (sources.get(domain.groupId) === 'local') await check(domain);
      }
    },

    /** At a sign-in, once the first factor is proven: joins the groups of the domain, and leaves those of others. */
    async signedIn(userId: string, request: RequestInfo): Promise<void> {
      const by = { request };
      const isIn = (tx: Tx) =>
        tx.groupMember.findMany({
          where: { userId, source: { startsWith: 'domain:' } },
          select: { groupId: true, source: true },
        });
      const before = await accounts.find(userId);
      if (!before?.isActive) return;
      const [{ domain, groupIds }, held] = [await groupsOf(before, db), await isIn(db)];
      const isSame =
        held.length === groupIds.length &&
        held.every(({ groupId, source }) => source === sourceOf(domain) && groupIds.includes(groupId));
      if (isSame) return;
      await transaction(db, async (tx) => {
        await lockRow(tx, sql, 'users', userId);
        await lockGroups(tx, sql, 'shared');
        const account = await accounts.find(userId, tx);
        if (!account) return;
        const found = await groupsOf(account, tx);
        const sources = new Set([...(await isIn(tx)).map(({ source }) => source), sourceOf(found.domain)]);
        for (const source of sources) {
          const ids = found.domain !== '' && source === sourceOf(found.domain) ? found.groupIds : [];
          await groups.setMemberships(userId, source as ReturnType<typeof sourceOf>, ids, { by, tx });
        }
      });
    },

    /** After a change of the address: leaves the groups of every other domain. In the transaction of the change. */
    async addressChanged({ id, email, emailProven }: Account, by: Actor, tx: Tx): Promise<void> {
      const stays = sourceOf(email === null || !emailProven ? '' : domainOf(email));
      const where = { userId: id, source: { startsWith: 'domain:', not: stays } };
      const rows = await tx.asStored.groupMember.findMany({ where, select: { source: true }, distinct: ['source'] });
      for (const { source } of rows) await groups.setMemberships(id, source as typeof stays, [], { by, tx });
    },
  };
}
