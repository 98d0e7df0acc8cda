// Ends sessions, for every reason: logout, an administrator, a password reset, expiry. The session, its grants and the
// remembered second factor are removed in one transaction with the list of applications to notify, so that no slow
// application and no crash keeps a session alive or an application uninformed.
//
// A logout comes from /end-session (protocols/oidc/patches/provider/logout-token-queue.ts, then protocols/logout/end-session.ts), from /saml/slo
// (protocols/logout/saml/routes.ts) or from an upstream (federation/logout/routes.ts). After this transaction,
// protocols/logout/deliveries.ts sends logout tokens and SOAP requests with retries, while the browser opens /signout/:run again and again:
// protocols/logout/front-channel/routes.ts probes, shows the frames, redirects to each service provider and to the upstream, and completes the run.

import { readMetadata } from '../../applications/application.ts';
import type { Base } from '../../base/base.ts';
import type { Http } from '../../base/http/http.ts';
import { languagesOf } from '../../base/http/pages/language.ts';
import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { deleteLinkTokens } from '../../core/mail/link-tokens.ts';
import type { People } from '../../people/people.ts';
import type { OnSessionDestroyed } from '../oidc/store/sessions/session-adapter.ts';
import type { SessionEntry, Sessions } from '../oidc/store/sessions/sessions.ts';
import type { SloEndpoint } from '../saml/metadata/entity.ts';
import { sloEndpoints } from '../saml/metadata/service-providers.ts';
import {
  endAccountParticipants,
  endSessionParticipants,
  removeAccountParticipants,
  storedNameId,
} from '../saml/slo/session-participants.ts';
import type { Channel } from './front-channel/next-step.ts';
import {
  deliveryRow,
  type FrontChannel,
  INITIATOR,
  type LogoutCompletion,
  logoutBrowserOf,
  type NewParticipant,
  type ParticipantData,
  type StartedRun,
} from './logout-run.ts';
import type { LogoutRunStore } from './logout-run-store.ts';
import type { PlanUpstream } from './upstream.ts';

export type EndReason =
  | 'signed-out'
  | 'application-signed-out'
  | 'upstream-signed-out'
  | 'ended-by-person'
  | 'ended-by-admin'
  | 'password-reset'
  | 'account-disabled'
  | 'account-ended'
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
  run: StartedRun | undefined;
}

/** How many sessions ended, and the logout run that notifies their applications. */
export interface EndedAll extends EndResult {
  count: number;
}

export type EndSession = ReturnType<typeof createEndSession>;

export interface SessionOptions {
  /** client_id of this server's own pages, which need no notification. */
  ownClientId: string;
  /** Removes the account's unfinished sign-ins. */
  abandonSignIns(accountId: string, tx: Tx): Promise<void>;
  planUpstream: PlanUpstream;
}

const BATCH = 100;

/** Reasons to end a session from another browser: what it granted offline ends with it. A logout leaves that to the user. */
const FROM_ELSEWHERE: ReadonlySet<EndReason> = new Set(['ended-by-person', 'ended-by-admin']);

export function createEndSession(
  services: Core & People & SessionOptions & { sessions: Sessions; runs: LogoutRunStore },
) {
  const { db, now, audit, mfa, sessions, runs, ownClientId, abandonSignIns, planUpstream, wake } = services;

  /** Creates the logout run that notifies the applications of these sessions; undefined when no application has to be notified. */
  async function plan(ended: SessionEntry[], reason: EndReason, { clientId, frontChannel }: EndBy, tx: Tx) {
    const userId = ended[0]?.accountId ?? '';
    const uids = ended.map(({ uid }) => uid);
    const options = { ownClientId, hasBrowser: frontChannel !== undefined, initiator: clientId };
    const participants = await planParticipants(tx, ended, options);
    // Only a browser can end its session at the upstream, and one that the upstream ended has ended there.
    if (frontChannel && reason !== 'upstream-signed-out') {
      const uidOfBrowser = frontChannel.sessionUid ?? (uids.length === 1 ? uids[0] : undefined);
      const upstream = uidOfBrowser === undefined ? undefined : await planUpstream(uidOfBrowser, tx);
      if (upstream) participants.push(upstream);
    }
    await endSessionParticipants(uids, now(), tx);
    if (participants.length === 0 && !frontChannel) return undefined;
    return runs.create({ userId, reason, initiator: clientId, participants, frontChannel }, tx);
  }

  /** Ends sessions of one account. Undefined when all had already ended. */
  async function endSome(
    requested: SessionEntry[],
    reason: EndReason,
    by: EndBy,
    tx: Tx,
  ): Promise<EndResult | undefined> {
    const ended: SessionEntry[] = [];
    for (const session of requested) {
      const removed = await sessions.remove(session, tx, { offline: FROM_ELSEWHERE.has(reason) });
      if (removed) ended.push(removed);
    }
    const [first] = ended;
    if (!first) return undefined;
    const uids = ended.map(({ uid }) => uid);
    // A browser is remembered for longer than a session lasts; a session that expires does not end that.
    if (reason !== 'expired' && reason !== 'session-limit')
      await mfa.knownBrowsers.endTrust(first.accountId, tx, { only: await sessions.browsersOf(uids, tx) });
    const run = await plan(ended, reason, by, tx);
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

  /**
   * Ends what could become a session or a change of the account later: sign-ins that are not finished, the trust in every browser
   * but that of the session `except`, and the link of a change of address, which another user of the account may have requested.
   */
  async function endPending(accountId: string, except: string | undefined, tx: Tx): Promise<void> {
    await abandonSignIns(accountId, tx);
    const kept = except === undefined ? {} : { except: await sessions.browsersOf([except], tx) };
    await mfa.knownBrowsers.endTrust(accountId, tx, kept);
    await deleteLinkTokens(tx, accountId, ['change-email', 'accepted']);
  }

  function several(uids: readonly string[], reason: EndReason, by: EndBy = {}): Promise<EndResult | undefined> {
    return transaction(db, async (tx) => {
      const found: SessionEntry[] = [];
      for (const uid of new Set(uids)) {
        const session = await sessions.find(uid, tx);
        if (session) found.push(session);
      }
      // Each account has a logout run of its own; the result is the first of them. One browser runs one logout run: the applications of
      // further accounts are notified by deliveries alone.
      const { frontChannel: _browser, ...withoutBrowser } = by;
      let first: EndResult | undefined;
      for (const sessionsOfAccount of byAccount(found)) {
        const ended = await endSome(sessionsOfAccount, reason, first ? withoutBrowser : by, tx);
        first ??= ended;
      }
      return first;
    });
  }

  return {
    /** Ends these sessions in one logout run. Undefined when all had already ended. */
    several,
    /** Ends one session. Undefined when it had already ended. */
    one: (uid: string, reason: EndReason, by?: EndBy): Promise<EndResult | undefined> => several([uid], reason, by),

    /** Ends every session of an account and revokes all its tokens, offline ones included. */
    all: (accountId: string, reason: EndReason, by: Actor = {}, within?: Tx): Promise<EndedAll> =>
      withinTransaction(db, within, async (tx) => {
        const live = await sessions.removeAllOf(accountId, tx);
        await endPending(accountId, undefined, tx);
        const run = live.length > 0 ? await plan(live, reason, {}, tx) : undefined;
        if (reason === 'account-deleted') await removeAccountParticipants(accountId, tx);
        else await endAccountParticipants(accountId, now(), tx);
        const data = { count: live.length, ...(run && { run: run.id }) };
        const about = { reason, subjectId: accountId, data, ...by };
        await audit.record({ type: 'sessions.ended-all', outcome: 'success', ...about }, tx);
        return { count: live.length, run };
      }),

    /**
     * Signs the user out everywhere: ends their sessions but `except`, and revokes their tokens, offline ones included. Only
     * tokens that end with the session `except` stay. Sign-ins that are not finished, the trust in other browsers and the link
     * of a change of address end too. Undefined when there was no other session.
     */
    everywhere: (accountId: string, { except, ...by }: EndBy & { except?: string }): Promise<EndResult | undefined> =>
      transaction(db, async (tx) => {
        const reason = 'ended-by-person';
        const live = await sessions.list(accountId, tx);
        const others = live.filter(({ uid }) => uid !== except);
        const ended = await endSome(others, reason, by, tx);
        const kept = live.find(({ uid }) => uid === except);
        await sessions.removeGrantsBut(accountId, kept, tx);
        await endPending(accountId, except, tx);
        const { actorId, request } = by;
        const about = { subjectId: accountId, ...(actorId && { actorId }), ...(request && { request }) };
        await audit.record({ type: 'token.revoked', outcome: 'success', reason, ...about }, tx);
        return ended;
      }),

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

    /** Ends expired sessions, each in a transaction of its own, so that their applications are notified. Returns how many ended. */
    async expired(signal?: AbortSignal): Promise<number> {
      let count = 0;
      for (;;) {
        const batch = await sessions.expired(BATCH);
        for (const session of batch) await transaction(db, (tx) => endSome([session], 'expired', {}, tx));
        count += batch.length;
        if (batch.length < BATCH || signal?.aborted) return count;
      }
    },

    /** Queues a logout token for one relying party, while the user stays signed in. */
    async queueLogoutToken(clientId: string, accountId: string, sid: string | undefined): Promise<void> {
      const to = { participantId: null, clientId, channel: 'back', accountId, sid };
      const delivery = deliveryRow(to, now());
      await db.logoutDelivery.create({ data: delivery });
      wake('logout-deliveries', db);
    },
  };
}

function byAccount(entries: SessionEntry[]): SessionEntry[][] {
  const groups = new Map<string, SessionEntry[]>();
  for (const session of entries) groups.set(session.accountId, [...(groups.get(session.accountId) ?? []), session]);
  return [...groups.values()];
}

// Plans how each application of the ended sessions is notified, from its current registration.

interface PlanOptions {
  /** client_id of this server's own pages, whose sessions end with the single sign-on session. */
  ownClientId: string;
  /** Whether there is a browser for front-channel steps. */
  hasBrowser: boolean;
  /** The application that began the logout. */
  initiator: string | undefined;
}

interface Registered {
  id: string;
  clientId: string;
  protocol: string;
  name: string;
  enabled: boolean;
  metadata: string;
}

/** The participants of these sessions, OpenID Connect first. Reads inside the transaction that ends the sessions. */
async function planParticipants(
  tx: Tx,
  sessions: readonly SessionEntry[],
  { ownClientId, hasBrowser, initiator }: PlanOptions,
): Promise<NewParticipant[]> {
  const clientIds = new Set(sessions.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)));
  clientIds.delete(ownClientId);
  if (clientIds.size === 0) return [];
  const rows = await tx.asStored.application.findMany({ where: { clientId: { in: [...clientIds] } } });
  const registered: Registered[] = rows.map((row) => ({
    ...row,
    // Another program may have written the addresses of an application that it changed.
    enabled: row.enabled && tx.macs.isGenuine('applications', row, row.mac),
  }));
  const byClientId = new Map(registered.map((application) => [application.clientId, application]));
  const samlParticipants = await tx.samlParticipant.findMany({
    where: { sessionUid: { in: sessions.map(({ uid }) => uid) }, endedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });

  const oidc = sessions.flatMap(({ participants }) =>
    participants.flatMap(({ clientId, sid, isAnswered }) => {
      const application = byClientId.get(clientId);
      if (!isAnswered || clientId === ownClientId || application?.protocol === 'saml') return [];
      return planOidc(application, { clientId, sid, hasBrowser, isInitiator: clientId === initiator });
    }),
  );
  const saml = samlParticipants.flatMap((row) => {
    const application = registered.find(({ id }) => id === row.applicationId);
    if (!application) return []; // deleted meanwhile
    const data = { nameId: storedNameId(row), sessionIndex: row.sessionIndex };
    return planSaml(application, { data, hasBrowser, isInitiator: application.clientId === initiator });
  });
  return [...oidc, ...saml];
}

function planOidc(
  application: Registered | undefined,
  about: { clientId: string; sid: string | undefined; hasBrowser: boolean; isInitiator: boolean },
): NewParticipant {
  const { clientId, sid, hasBrowser, isInitiator } = about;
  const common = { clientId, protocol: 'oidc' as const, name: application?.name ?? clientId, data: { sid } };
  // Its session here has ended in this transaction.
  if (application?.protocol === 'proxy') return { ...common, channel: 'none', state: 'done' };
  if (!application?.enabled) return { ...common, channel: 'none', state: 'failed', reason: 'switched_off' };
  const { backchannel_logout_uri: back, frontchannel_logout_uri: front } = readMetadata('oidc', application.metadata);
  // Back-channel logout is preferred: it does not depend on the browser.
  if (back) return { ...common, channel: 'back', state: 'waiting' };
  if (front && hasBrowser) return { ...common, channel: 'front', state: 'waiting' };
  if (isInitiator) return { ...common, channel: 'none', state: 'done', reason: INITIATOR };
  return { ...common, channel: 'none', state: 'unsupported', reason: front ? 'needs_browser' : 'no_logout' };
}

function planSaml(
  application: Registered,
  { data, hasBrowser, isInitiator }: { data: ParticipantData; hasBrowser: boolean; isInitiator: boolean },
): NewParticipant {
  const { clientId, name } = application;
  const common = { clientId, protocol: 'saml' as const, name };
  // It gets a LogoutResponse when the run is complete.
  if (isInitiator) return { ...common, data, channel: 'none', state: 'done', reason: INITIATOR };
  if (!application.enabled) return { ...common, data, channel: 'none', state: 'failed', reason: 'switched_off' };
  const endpoints = endpointsOf(application);
  const has = (binding: SloEndpoint['binding']) => endpoints.some((endpoint) => endpoint.binding === binding);
  // The browser is preferred, because applications find their session by cookie; and redirect over POST, because a POST
  // from another site has no SameSite=Lax cookies.
  const visit = (['redirect', 'post'] as const).find(has);
  const soap = has('soap') ? 'soap' : undefined;
  const channel: Channel | undefined = hasBrowser ? (visit ?? soap) : soap;
  if (channel) return { ...common, data: { ...data, hasSoap: soap !== undefined }, channel, state: 'waiting' };
  return { ...common, data, channel: 'none', state: 'unsupported', reason: visit ? 'needs_browser' : 'no_logout' };
}

/** Registration data that cannot be read must not prevent the logout. */
function endpointsOf({ metadata }: Registered): readonly SloEndpoint[] {
  try {
    return sloEndpoints(readMetadata('saml', metadata));
  } catch {
    return [];
  }
}

// Ends the sessions of a user whose roles or groups change, if the setting `sign_out_on_role_change` is on.

/** Returns a function to call in the transaction of the change. */
export function createSignOutOnRoleChange(
  { settings }: Core,
  { sessions, endSession }: { sessions: Sessions; endSession: EndSession },
) {
  return async function signOutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void> {
    if (!settings.latest().sign_out_on_role_change || (await sessions.list(userId, tx)).length === 0) return;
    await endSession.all(userId, 'roles-changed', by, tx);
  };
}

/** The path of the engine at which a sign-in continues is below it. */
const AUTHORIZATION = '/authorize';

export function createEngineLogoutHooks(
  dependencies: Base &
    Http & {
      endSession: EndSession;
      runs: LogoutRunStore;
      /** client_id of this server's own pages. */
      ownClientId: string;
    },
) {
  const { endSession, runs, cookies, ownClientId } = dependencies;
  const { issuer } = dependencies.config;
  return {
    queueLogoutToken: endSession.queueLogoutToken,

    endSession: (async (uid, ctx, { clientId, actorId, returnUri }) => {
      // After a sign-out on this server's own pages, the page of the logout run displays the result. Where another account signs in, the
      // engine goes on with that sign-in.
      const isOwnPage = clientId === ownClientId && !returnUri?.startsWith(`${issuer}${AUTHORIZATION}/`);
      const returns = returnUri !== undefined && !isOwnPage;
      const completion: LogoutCompletion = returns ? { kind: 'oidc', uri: returnUri } : { kind: 'page' };
      const ended = await endSession.one(uid, 'signed-out', {
        ...(clientId && { clientId }),
        ...(actorId && { actorId }),
        request: ctx.state.request,
        frontChannel: {
          browser: logoutBrowserOf(ctx, cookies),
          completion,
          languages: languagesOf(ctx.query.ui_locales),
        },
      });
      const run = ended?.run;
      if (!run) return;
      // Without front-channel steps the browser goes straight back; deliveries need no browser.
      if (returns && run.browserSteps === 0) await runs.finish(run.id);
      else ctx.state.logoutRunPath = `/signout/${run.id}`;
    }) satisfies OnSessionDestroyed,
  };
}
