// Ends sessions, for every reason: logout, an administrator, a password reset, expiry. The session, its grants and the
// remembered second factor are removed in one transaction with the list of applications to notify, so that no slow
// application and no crash keeps a session alive or an application uninformed.
//
// A logout comes from /end-session (protocols/oidc/patches/provider/logout-token-queue.ts, then protocols/logout/oidc-logout.ts), from /saml/slo
// (protocols/logout/saml/logout-requests.ts) or from an upstream (federation/logout/routes.ts). After this transaction,
// protocols/logout/deliveries.ts sends logout tokens and SOAP requests with retries, while the browser opens /signout/:run again and again:
// protocols/logout/front-channel/steps.ts probes, shows the frames, redirects to each service provider and to the upstream, and completes the run.

import type { Clock } from '../../base/platform/clock.ts';
import { type Db, type Tx, transaction } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import { deleteLinkTokens } from '../../core/mail/link-tokens.ts';
import type { SessionEntry, Sessions } from '../oidc/store/sessions/sessions.ts';
import { endAccountParticipants, endSessionParticipants, removeAccountParticipants } from '../saml/slo/removals.ts';
import { deliveryRow, type FrontChannel, type RunRef } from './logout-run.ts';
import type { LogoutRunStore } from './logout-run-store.ts';
import { planParticipants } from './participants.ts';
import type { PlanUpstream } from './upstream.ts';

export type EndReason =
  | 'signed-out'
  | 'application-signed-out'
  | 'upstream-signed-out'
  | 'ended-by-person'
  | 'ended-by-admin'
  | 'password-reset'
  | 'account-disabled'
  | 'account-deleted'
  | 'roles-changed'
  | 'identity-linked'
  | 'session-limit'
  | 'expired';

export interface EndBy extends Actor {
  /** The application that began the logout. */
  clientId?: string;
  /** The front-channel logout through this browser, if there is one. */
  frontChannel?: FrontChannel;
}

export interface EndResult {
  /** The logout run; undefined when no application has to be notified. */
  run: RunRef | undefined;
}

/** How many sessions ended, and the logout run that notifies their applications. */
export interface EndedAll extends EndResult {
  count: number;
}

export type EndSession = ReturnType<typeof createEndSession>;

export interface EndSessionDependencies {
  db: Db;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
  sessions: Sessions;
  runs: LogoutRunStore;
  planUpstream: PlanUpstream;
  /** client_id of this server's own pages, which need no notification. */
  ownClientId: string;
  /** Forgets the second factor in the browsers of these sessions, or in all of the account but that of the session `except`. */
  endTrust(accountId: string, of: { sessions?: readonly string[]; except?: string | undefined }, tx: Tx): Promise<void>;
  /** Removes the account's unfinished sign-ins. */
  abandonSignIns(accountId: string, tx: Tx): Promise<void>;
  /** Starts the deliveries without waiting for the next run of their job. */
  wakeLogoutDeliveries(): void;
}

const BATCH = 100;

/** Reasons to end a session from another browser: what it granted offline ends with it. A logout leaves that to the user. */
const OF_OTHERS: ReadonlySet<EndReason> = new Set(['ended-by-person', 'ended-by-admin']);

export function createEndSession(dependencies: EndSessionDependencies) {
  const { db, now, sessions, wakeLogoutDeliveries } = dependencies;

  const several: (uids: readonly string[], reason: EndReason, by?: EndBy) => Promise<EndResult | undefined> = async (
    uids,
    reason,
    by = {},
  ) => {
    const ended = await transaction(db, async (tx) => {
      const found: SessionEntry[] = [];
      for (const uid of new Set(uids)) found.push(...[(await sessions.find(uid, tx)) ?? []].flat());
      return endByAccount(dependencies, found, reason, by, tx);
    });
    if (ended) wakeLogoutDeliveries();
    return ended;
  };

  return {
    /** Ends these sessions in one logout run. Undefined when all had already ended. */
    several,
    /** Ends one session. Undefined when it had already ended. */
    one: (uid: string, reason: EndReason, by?: EndBy): Promise<EndResult | undefined> => several([uid], reason, by),

    /** Ends every session of an account and revokes all its tokens, offline ones included. */
    async all(accountId: string, reason: EndReason, by: Actor = {}, tx?: Tx): Promise<EndedAll> {
      const ended = tx
        ? await endAll(dependencies, accountId, reason, by, tx)
        : await transaction(db, (own) => endAll(dependencies, accountId, reason, by, own));
      wakeLogoutDeliveries();
      return ended;
    },

    /**
     * Signs the user out everywhere: ends their sessions but `except`, and revokes their tokens, offline ones included. Only
     * tokens that end with the session `except` stay. Sign-ins that are not finished, the trust in other browsers and the link
     * of a change of address end too.
     */
    async everywhere(accountId: string, by: EndBy & { except?: string }): Promise<EndResult | undefined> {
      const ended = await transaction(db, (tx) => endEverywhere(dependencies, accountId, by, tx));
      if (ended) wakeLogoutDeliveries();
      return ended;
    },

    /** Ends the oldest sessions of an account that has more than `max`. */
    async exceeding(accountId: string, max: number): Promise<void> {
      await several(await sessions.exceeding(accountId, max), 'session-limit');
    },

    /** Ends every session that an application takes part in, and revokes its tokens, offline ones included. Returns how many ended. */
    async ofApplication(clientId: string, reason: EndReason, by: Actor = {}): Promise<number> {
      let count = 0;
      for await (const { uid } of sessions.withParticipant(clientId)) {
        if (await several([uid], reason, by)) count += 1;
      }
      await sessions.removeGrants(undefined, clientId);
      return count;
    },

    /** Ends expired sessions, so that their applications are notified. Returns how many ended. */
    expired: (signal?: AbortSignal): Promise<number> => endExpired(dependencies, signal),

    /** Queues a logout token for one relying party, while the user stays signed in. */
    async queueLogoutToken(clientId: string, accountId: string, sid: string | undefined): Promise<void> {
      const to = { participantId: null, clientId, channel: 'back', accountId, sid };
      const delivery = deliveryRow(to, now(), dependencies.protectedRows);
      await db.logoutDelivery.create({ data: delivery });
      wakeLogoutDeliveries();
    },
  };
}

/** Creates the logout run that notifies the applications of these sessions; undefined when no application has to be notified. */
async function plan(
  { runs, now, ownClientId, protectedRows, planUpstream }: EndSessionDependencies,
  ended: SessionEntry[],
  reason: EndReason,
  { clientId, frontChannel }: EndBy,
  tx: Tx,
) {
  const userId = ended[0]?.accountId ?? '';
  const options = { ownClientId, hasBrowser: frontChannel !== undefined, initiator: clientId, protectedRows };
  const applications = await planParticipants(tx, ended, options);
  // Only a browser can end its session at the upstream, and one that the upstream ended has ended there.
  const here = frontChannel?.sessionUid ?? (ended.length === 1 ? ended[0]?.uid : undefined);
  const goesUpstream = frontChannel !== undefined && here !== undefined && reason !== 'upstream-signed-out';
  const upstream = goesUpstream ? await planUpstream(here, tx) : undefined;
  const participants = upstream ? [...applications, upstream] : applications;
  await endSessionParticipants(
    ended.map(({ uid }) => uid),
    now(),
    tx,
  );
  if (participants.length === 0 && !frontChannel) return undefined;
  return runs.create({ userId, reason, initiator: clientId, participants, frontChannel }, tx);
}

/** Ends sessions of one account. Undefined when all had already ended. */
async function endSome(
  dependencies: EndSessionDependencies,
  requested: SessionEntry[],
  reason: EndReason,
  by: EndBy,
  tx: Tx,
): Promise<EndResult | undefined> {
  const { sessions, audit, endTrust } = dependencies;
  const ended: SessionEntry[] = [];
  const offline = OF_OTHERS.has(reason);
  for (const session of requested) ended.push(...[(await sessions.remove(session, tx, { offline })) ?? []].flat());
  const [first] = ended;
  if (!first) return undefined;
  const uids = ended.map(({ uid }) => uid);
  // A browser is remembered for longer than a session lasts; a session that expires does not end that.
  if (reason !== 'expired' && reason !== 'session-limit') await endTrust(first.accountId, { sessions: uids }, tx);
  const run = await plan(dependencies, ended, reason, by, tx);
  const { actorId, clientId, request } = by;
  await audit.record(
    {
      type: 'session.ended',
      outcome: 'success',
      reason,
      subjectId: first.accountId,
      ...(actorId && { actorId }),
      ...(clientId && { clientId }),
      ...(request && { request }),
      data: { sessions: ended.length, ...(run && { run: run.id }) },
    },
    tx,
  );
  return { run };
}

/** Ends every session of an account, and its tokens. */
async function endAll(
  dependencies: EndSessionDependencies,
  accountId: string,
  reason: EndReason,
  by: Actor,
  tx: Tx,
): Promise<EndedAll> {
  const { sessions, audit } = dependencies;
  const live = await sessions.removeAllOf(accountId, tx);
  await endPending(dependencies, accountId, undefined, tx);
  const run = live.length > 0 ? await plan(dependencies, live, reason, {}, tx) : undefined;
  if (reason === 'account-deleted') await removeAccountParticipants(accountId, tx);
  else await endAccountParticipants(accountId, dependencies.now(), tx);
  const data = { count: live.length, ...(run && { run: run.id }) };
  await audit.record({ type: 'sessions.ended-all', outcome: 'success', reason, subjectId: accountId, data, ...by }, tx);
  return { count: live.length, run };
}

/** Ends the sessions that have expired, each in a transaction of its own. Returns how many ended. */
async function endExpired(dependencies: EndSessionDependencies, signal: AbortSignal | undefined): Promise<number> {
  const { db, sessions, wakeLogoutDeliveries } = dependencies;
  let count = 0;
  for (;;) {
    const batch = await sessions.expired(BATCH);
    for (const session of batch) await transaction(db, (tx) => endSome(dependencies, [session], 'expired', {}, tx));
    count += batch.length;
    if (count > 0) wakeLogoutDeliveries();
    if (batch.length < BATCH || signal?.aborted) return count;
  }
}

/** Ends every session of an account but one, and its tokens. Undefined when there was no other session. */
async function endEverywhere(
  dependencies: EndSessionDependencies,
  accountId: string,
  { except, ...by }: EndBy & { except?: string },
  tx: Tx,
): Promise<EndResult | undefined> {
  const { sessions, audit } = dependencies;
  const reason = 'ended-by-person';
  const live = await sessions.list(accountId, tx);
  const others = live.filter(({ uid }) => uid !== except);
  const ended = await endSome(dependencies, others, reason, by, tx);
  await sessions.removeGrantsBut(
    accountId,
    live.find(({ uid }) => uid === except),
    tx,
  );
  await endPending(dependencies, accountId, except, tx);
  const { actorId, request } = by;
  const about = { subjectId: accountId, ...(actorId && { actorId }), ...(request && { request }) };
  await audit.record({ type: 'token.revoked', outcome: 'success', reason, ...about }, tx);
  return ended;
}

/**
 * Ends what could become a session or a change of the account later: sign-ins that are not finished, the trust in every browser
 * but that of the session `except`, and the link of a change of address, which another user of the account may have requested.
 */
async function endPending(
  { abandonSignIns, endTrust }: EndSessionDependencies,
  accountId: string,
  except: string | undefined,
  tx: Tx,
): Promise<void> {
  await abandonSignIns(accountId, tx);
  await endTrust(accountId, { except }, tx);
  await deleteLinkTokens(tx, accountId, ['change-email']);
}

/** Ends these sessions, those of each account in a logout run of its own. Returns the first run. */
async function endByAccount(
  dependencies: EndSessionDependencies,
  found: SessionEntry[],
  reason: EndReason,
  by: EndBy,
  tx: Tx,
): Promise<EndResult | undefined> {
  let first: EndResult | undefined;
  for (const group of byAccount(found)) {
    // One browser runs one logout run; sessions of further accounts are notified by deliveries alone.
    const { frontChannel, ...others } = by;
    const ended = await endSome(dependencies, group, reason, first ? others : by, tx);
    first ??= ended;
  }
  return first;
}

function byAccount(found: SessionEntry[]): SessionEntry[][] {
  const groups = new Map<string, SessionEntry[]>();
  for (const session of found) groups.set(session.accountId, [...(groups.get(session.accountId) ?? []), session]);
  return [...groups.values()];
}
