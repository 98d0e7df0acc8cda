// /account/applications: the applications and agents with access to an account, and the end of it. The console has the same list of a user.

import Router from '@koa/router';
import { z } from 'zod';
import { readMetadata } from '../applications/application.ts';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { ConsentEntry } from '../applications/consents/consents.ts';
import { isOnThisComputer } from '../applications/uris.ts';
import type { Base } from '../base/base.ts';
import type { Extras, State } from '../base/http/context.ts';
import { parseForm } from '../base/http/input.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import { describeGrant } from '../sign-in/consent-description.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

const HERE = '/account/applications';
const revokeForm = z.object({ application: z.string().min(1).max(64) });

const MAX_TOKENS = 1000;

export interface AllowedApplication extends ConsentEntry {
  /** It has a grant without the consent of the user (`consent: implicit`). */
  isImplicit: boolean;
  /** Where the answers to a client go that nobody registered: a host, or a program on the computer of the person. */
  goesTo: { host: string } | 'this-computer' | undefined;
  /** When it last got a token that is stored; a token that an API verifies itself is not. */
  lastUsedAt: Date | undefined;
}

export function consentRoutes(
  dependencies: Core & ApplicationServices & SessionServices & { page: AccountPageHelpers },
): Router<State, Extras> {
  const { page } = dependencies;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const list = await allowedApplications(dependencies, account.id);
    ctx.render('account/consents', {
      notice: page.takeNotice(ctx),
      consents: await Promise.all(
        list.map(async ({ granted, ...consent }) => {
          const { scopes, resources, isOffline } = await describeGrant(dependencies, granted, account);
          const general = [...scopes.map(({ label }) => label), ...(isOffline ? [t('consent.offline')] : [])];
          const ofApis = resources.map(({ name, scopes: words }) => [
            t('consents.on-behalf', { resource: name }),
            ...words,
          ]);
          return { ...consent, granted: [...ofApis, general].filter((line) => line.length > 0) };
        }),
      ),
    });
  });

  router.post('/revoke', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { application } = await parseForm(ctx, revokeForm);
    const found = (await allowedApplications(dependencies, account.id)).find(
      ({ applicationId }) => applicationId === application,
    );
    if (found) await removeAccess(dependencies, account.id, found, page.actorOf(ctx));
    page.redirectWithNotice(ctx, HERE, t('consents.removed'));
  });

  return router;
}

/** Withdraws the consent, and ends the tokens. One that an API verifies itself lasts until it expires. */
export async function removeAccess(
  { audit, consents, sessions }: Core & ApplicationServices & SessionServices,
  accountId: string,
  { applicationId, clientId }: AllowedApplication,
  by: Actor,
): Promise<void> {
  const hadConsent = await consents.withdraw(accountId, applicationId);
  await sessions.removeGrants(accountId, clientId);
  const reason = by.actorId === accountId ? 'ended-by-person' : 'ended-by-admin';
  const event = hadConsent ? { type: 'consent.revoked' as const } : { type: 'token.revoked' as const, reason };
  await audit.record({ ...by, ...event, outcome: 'success', subjectId: accountId, clientId });
}

/** What the user has consented to, and the applications that hold a grant without a consent. */
export async function allowedApplications(
  { db, consents, sessions }: Base & ApplicationServices & SessionServices,
  accountId: string,
): Promise<AllowedApplication[]> {
  const consented = await consents.list(accountId);
  const consentedIds = new Set(consented.map(({ clientId }) => clientId));
  const grants = (await sessions.grantsOf(accountId)).filter(({ clientId }) => !consentedIds.has(clientId));
  // The account pages are a client without a row, and a SAML service provider gets no tokens.
  const rows = await db.asStored.application.findMany({
    where: { clientId: { in: [...consented, ...grants].map(({ clientId }) => clientId) }, protocol: 'oidc' },
    select: { id: true, clientId: true, name: true, source: true, metadata: true },
  });
  const rowOf = new Map(rows.map((row) => [row.clientId, row]));
  const implicit = grants.flatMap((grant) => {
    const row = rowOf.get(grant.clientId);
    return row ? [{ applicationId: row.id, applicationName: row.name, ...grant, isImplicit: true }] : [];
  });
  const lastUse = await lastUses(db, accountId);
  const all = [...consented.map((one) => ({ ...one, isImplicit: false })), ...implicit];
  return all.map((one) => ({
    ...one,
    lastUsedAt: lastUse.get(one.clientId),
    goesTo: destinationOf(rowOf.get(one.clientId)),
  }));
}

function destinationOf(row: { source: string; metadata: string } | undefined): AllowedApplication['goesTo'] {
  if (row?.source !== 'dynamic' && row?.source !== 'document') return undefined;
  const { redirect_uris: uris = [] } = readMetadata('oidc', row.metadata);
  const web = uris.find((uri) => !isOnThisComputer(uri));
  return web === undefined ? 'this-computer' : { host: new URL(web).host };
}

/** Client ID -> when the application last got a token for the account. */
async function lastUses({ oidcArtifact }: Base['db'], accountId: string): Promise<Map<string, Date>> {
  const rows = await oidcArtifact.findMany({
    where: { accountId, model: { in: ['AccessToken', 'RefreshToken'] } },
    select: { clientId: true, payload: true },
    orderBy: { expiresAt: 'desc' },
    take: MAX_TOKENS,
  });
  const found = new Map<string, Date>();
  for (const { clientId, payload } of rows) {
    const { iat } = JSON.parse(payload) as { iat: number };
    const at = new Date(iat * 1000);
    if (clientId !== null && at > (found.get(clientId) ?? new Date(0))) found.set(clientId, at);
  }
  return found;
}
