// Connected identities on the account page: listing, connecting after a recent proof, and disconnecting. The last way into an
// account stays.

import { conflict } from '../base/http/errors.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { type Tx, transaction } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Account } from '../people/accounts/account.ts';
import type { OfferedConnection } from '../sign-in/first-factor/upstream.ts';
import { logoOf } from './connections/presets/presets.ts';
import type { ExternalIdentity } from './identities.ts';
import type { UpstreamRedirect } from './upstream.ts';
import type { UpstreamSignInServices } from './upstream-sign-in.ts';

export interface LinkedIdentity extends ExternalIdentity {
  connectionName: string;
}

export type Links = ReturnType<typeof createLinks>;

const PAGE = { href: '/account/connections', label: t('connections.title') };

export function createLinks(services: UpstreamSignInServices) {
  const { db, connections, groups, identities, resolver, rejected, setConnectionRoles, upstreamSignIn, notifyOwner } =
    services;
  return {
    async list(userId: string): Promise<{ linked: LinkedIdentity[]; available: OfferedConnection[] }> {
      const all = await connections.list();
      const nameOf = (id: string) => all.find((one) => one.id === id)?.name ?? id;
      const linked = await identities.ofUser(userId);
      return {
        linked: linked.map((one) => ({ ...one, connectionName: nameOf(one.connectionId) })),
        available: all
          .filter(({ enabled, kind }) => enabled && upstreamSignIn.hasProtocol(kind))
          .map((one) => ({ id: one.id, name: one.name, logo: logoOf(one) })),
      };
    },

    /** The name of the directory that checks the password of a user who has none here. */
    async directoryWithPassword(userId: string): Promise<string | undefined> {
      if ((await services.credentials.status(userId)) !== undefined) return undefined;
      const linked = await identities.ofUser(userId);
      const directories = (await connections.enabled()).filter(({ kind }) => kind === 'ldap');
      return directories.find(({ id }) => linked.some((one) => one.connectionId === id))?.name;
    },

    /** Sends a request that connects the answer's identity to the account of this session. */
    begin: (connectionId: string, { ssoUid }: { ssoUid: string }, request: RequestInfo): Promise<UpstreamRedirect> =>
      rejected.withErrorPage(
        request,
        () => ({ connectionId, next: PAGE }),
        async () => {
          const connection = await upstreamSignIn.usable(connectionId, undefined);
          return upstreamSignIn.begin({
            connection,
            purpose: 'link',
            boundTo: ssoUid,
            demands: { forced: false },
          });
        },
      ),

    /** Redeems the answer in the session that began; returns the name of the connection. */
    async finish(answerId: string, { ssoUid }: { ssoUid: string }, account: Account, by: Actor): Promise<string> {
      const begun = { connectionId: '' };
      const work = async () => {
        const { connection, identity } = await upstreamSignIn.redeem(answerId, 'link', ssoUid, begun);
        const notify = await transaction(db, (tx) => resolver.link(connection, identity, account, by, tx));
        await notify();
        return connection.name;
      };
      return rejected.withErrorPage(
        by.request as RequestInfo,
        () => ({ connectionId: begun.connectionId, next: PAGE }),
        work,
      );
    },

    /** Throws last_way_in (409). False when the account has no such identity. */
    async unlink(account: Account, identityId: string, by: Actor): Promise<boolean> {
      const isRemoved = await transaction(db, async (tx) => {
        await assertNotLast(services, account.id, identityId, tx);
        const own = await identities.ofUser(account.id, tx);
        const isUnlinked = await identities.unlink(account.id, identityId, by, tx);
        const connectionId = own.find(({ id }) => id === identityId)?.connectionId;
        const others = own.filter((one) => one.id !== identityId);
        // Its groups are not read any more.
        if (isUnlinked && connectionId && !others.some((one) => one.connectionId === connectionId)) {
          await setConnectionRoles(account.id, { connectionId, roleIds: [] }, by, tx);
          await groups.setMemberships(account.id, `connection:${connectionId}`, [], {
            by: { request: by.request },
            tx,
          });
        }
        return isUnlinked;
      });
      if (isRemoved) await notifyOwner(account, 'identity-unlinked', by.request);
      return isRemoved;
    },
  };
}

async function assertNotLast(
  { connections, credentials, identities, mfa: { factors } }: UpstreamSignInServices,
  userId: string,
  identityId: string,
  tx: Tx,
): Promise<void> {
  const enabled = (await connections.enabled()).map((one) => one.id);
  const others = (await identities.ofUser(userId, tx)).filter((one) => one.id !== identityId);
  if (others.some(({ connectionId }) => enabled.includes(connectionId))) return;
  const { verifyingPasskeys } = await factors.of(userId, tx);
  if (verifyingPasskeys > 0 || (await credentials.status(userId, tx)) !== undefined) return;
  throw conflict('last_way_in', { next: PAGE });
}
