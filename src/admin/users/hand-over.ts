// What a user owns, and its change to another owner, such as when a person leaves. An API key is no part of it: the person who leaves knows its
// text, and would act with the rights of the new owner.

import { z } from 'zod';
import { AppError, invalidInput, notFound } from '../../base/http/errors.ts';
import { transaction } from '../../base/storage/database.ts';
import { lockGroups } from '../../base/storage/row-lock.ts';
import { textFault } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { ApiKey } from '../../people/api-keys/api-keys.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import { within } from '../../people/rbac/rights.ts';
import type { UserServices } from '../admin-services.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { id, jsonOf, time } from '../api/parts.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { EndpointsBelow } from '../resource.ts';
import type { UserLookup } from './lookup.ts';

/** A group that the user owns, or an application whose contact the user is. */
export interface OwnedItem {
  kind: 'group' | 'application';
  id: string;
  name: string;
  /** Of the ownership of a group; null: no end. */
  until: Date | null;
  /** Why the actor cannot hand it over. */
  obstacle: PageText | undefined;
}

export interface Owned {
  items: OwnedItem[];
  /** Those that can be used, which end with the account. */
  apiKeys: ApiKey[];
}

/** API keys of one page. */
const KEYS = 100;

export function createHandOver(services: UserServices, { find }: UserLookup) {
  const { db, sql, apiKeys, applications, authority, groups } = services;

  const covered = async (userId: string, by: Actor): Promise<Account> => {
    await authority.assertCovers(by, 'gatehouse.users:read', userId);
    return find(userId);
  };

  const obstacleOf = (check: Promise<unknown>): Promise<PageText | undefined> =>
    check.then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof AppError) return error.text;
        throw error;
      },
    );

  async function itemsOf({ id: userId, email }: Account, by: Actor): Promise<OwnedItem[]> {
    const items: OwnedItem[] = [];
    if ((await authority.extent(by, 'gatehouse.groups:read')) === 'all')
      for (const { groupId, group: name, until } of await groups.ownershipsOf(userId)) {
        const obstacle = await obstacleOf(groups.assertMayAppoint(groupId, { by }));
        items.push({ kind: 'group', id: groupId, name, until, obstacle });
      }
    const extent = await authority.extent(by, 'gatehouse.applications:read');
    for (const application of email === null ? [] : await applications.withContact(email)) {
      if (extent !== 'all' && !extent.application.includes(application.clientId)) continue;
      const obstacle = await obstacleOf(applications.assertMayChangeContact(application, by));
      items.push({ kind: 'application', id: application.id, name: application.name, until: null, obstacle });
    }
    return items.sort((one, other) =>
      one.kind === other.kind ? (one.name < other.name ? -1 : 1) : one.kind < other.kind ? 1 : -1,
    );
  }

  return {
    /** What the actor may see of it. Throws not_found as `get` does. */
    async owned(userId: string, by: Actor): Promise<Owned> {
      const account = await covered(userId, by);
      const needs = ['gatehouse.api-keys:read'] as const;
      const seesKeys =
        by.actorId === userId ||
        (await authority.assertMay(by, { what: 'user', id: userId, needs }).then(() => true, falseIfForbidden));
      return {
        items: await itemsOf(account, by),
        apiKeys: seesKeys ? await apiKeys.list({ state: 'active', ownerId: userId, limit: KEYS }) : [],
      };
    },

    /**
     * Makes another user the owner of these, or of all that the actor may hand over; all or none. An ownership lasts as long as the longer of
     * both. Returns them. Throws StepUpNeeded, not_found for what the user does not own, invalid_input, and what its change throws.
     */
    async handOver(
      userId: string,
      { to, items: wanted }: { to: string; items?: readonly string[] | undefined },
      by: Actor,
    ): Promise<OwnedItem[]> {
      const from = await covered(userId, by);
      const heir = await covered(to, by);
      if (heir.id === from.id || !heir.isActive)
        throw invalidInput([textFault(['to'], t('console.users.hand-over.other'))]);
      const items = await itemsOf(from, by);
      const handed = items.filter((one) => (wanted ? wanted.includes(one.id) : one.obstacle === undefined));
      if (wanted && new Set(wanted).size !== handed.length) throw notFound();
      const { email } = heir;
      if (!email && handed.some(({ kind }) => kind === 'application'))
        throw invalidInput([textFault(['to'], t('console.users.hand-over.no-email'))]);
      await transaction(db, async (tx) => {
        await lockGroups(tx, sql, 'exclusive');
        const [owned, theirs] = [await groups.ownershipsOf(from.id, tx), await groups.ownershipsOf(heir.id, tx)];
        for (const one of handed) {
          if (one.kind === 'application') {
            await applications.replaceContact(one.id, { before: from.email ?? '', after: email ?? '' }, { by, tx });
            continue;
          }
          const held = owned.find(({ groupId }) => groupId === one.id);
          // Meanwhile it ended, or went to another person.
          if (!held) throw notFound();
          const own = theirs.find(({ groupId }) => groupId === one.id);
          const until = own && (!own.until || (held.until && own.until > held.until)) ? own.until : held.until;
          await groups.appointOwner(one.id, { userId: heir.id, until }, { by, tx });
          if (!(await groups.dismissOwner(one.id, from.id, { by, tx }))) throw notFound();
          assertFreshProof(by, 'group.change', one.name);
        }
      });
      return handed;
    },
  };
}

export type HandOver = ReturnType<typeof createHandOver>;

const item = { kind: z.enum(['group', 'application']), id: z.string(), name: z.string() };
const owned = z
  .object({
    items: z.array(
      z.object({
        ...item,
        until: time.nullable().describe('When the ownership of a group ends; null: no end'),
        obstacle: z.string().nullable().describe('Why the caller cannot hand it over'),
      }),
    ),
    api_keys: z
      .array(z.object({ id: z.string(), name: z.string(), expires_at: time, last_used_at: time.nullable() }))
      .describe('They end with the account, and are never handed over'),
  })
  .meta({ id: 'Owned' });

/** What a form or request hands over. */
export const handOverBody = z.strictObject({
  to: id.describe('Id of the account that becomes the owner'),
  items: z.array(id).min(1).max(1000).optional().describe('Ids of these; absent: all without an obstacle'),
});

/** What changes the owner of a group, or the contact of an application. */
export const HAND_OVER = [
  within('gatehouse.users:read'),
  within('gatehouse.groups:write', 'gatehouse.applications:write'),
];

/** /api/admin/users/{id}/owned and …/hand-over. */
export function handOverEndpoints({ action }: EndpointsBelow, users: HandOver): Endpoint[] {
  return [
    action('getOwned', 'GET /owned', {
      needs: [within('gatehouse.users:read')],
      summary: 'What the user owns: groups, applications whose contact the user is, and API keys',
      description: 'Each kind for callers who may read it.',
      response: owned,
      run: async ({ key, by }) => ({ body: jsonOf(owned, await users.owned(key, by), {}) }),
    }),
    action('handOver', 'POST /hand-over', {
      needs: HAND_OVER,
      summary: 'Makes another user the owner of these groups, and the contact of these applications; all or none',
      body: handOverBody,
      response: z.object({ items: z.array(z.object(item)) }),
      async run({ key, body, by }) {
        const handed = await users.handOver(key, body, by);
        return { body: { items: handed.map(({ kind, id: itemId, name }) => ({ kind, id: itemId, name })) } };
      },
    }),
  ];
}
