// /account/applications: what the user has allowed applications, and taking it back.

import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { ConsentEntry } from '../applications/consents/consents.ts';
import type { Base } from '../base/base.ts';
import type { Extras, State } from '../base/http/context.ts';
import { parseForm } from '../base/http/input.ts';
import { t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import { describeGrant } from '../sign-in/consent-description.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

const HERE = '/account/applications';
const revokeForm = z.object({ application: z.string().min(1).max(64) });

const MAX_TOKENS = 1000;

interface AllowedApplication extends ConsentEntry {
  /** It has a grant without the consent of the user (`consent: implicit`). */
  isImplicit: boolean;
  /** When it last got a token that is stored; a token that an API verifies itself is not. */
  lastUsedAt: Date | undefined;
}

export function consentRoutes(
  dependencies: Core & ApplicationServices & SessionServices & { page: AccountPageHelpers },
): Router<State, Extras> {
  const { page, sessions, consents, audit } = dependencies;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const list = await allowedApplications(dependencies, account.id);
    ctx.render('account/consents', {
      notice: page.takeNotice(ctx),
      consents: list.map(({ granted, ...consent }) => {
        const { scopes, resources, isOffline } = describeGrant(granted, account);
        const sentences = [
          ...scopes.map(({ label }) => label),
          ...resources.map(({ name }) => t('consents.on-behalf', { resource: name })),
        ];
        return { ...consent, granted: isOffline ? [...sentences, t('consent.offline')] : sentences };
      }),
    });
  });

  router.post('/revoke', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { application } = await parseForm(ctx, revokeForm);
    const found = (await allowedApplications(dependencies, account.id)).find(
      ({ applicationId }) => applicationId === application,
    );
    if (found) {
      const hadConsent = await consents.withdraw(account.id, application);
      await sessions.removeGrants(account.id, found.clientId);
      const about = { subjectId: account.id, clientId: found.clientId, ...page.actorOf(ctx) };
      const event = hadConsent
        ? { type: 'consent.revoked' as const }
        : { type: 'token.revoked' as const, reason: 'ended-by-person' };
      await audit.record({ ...event, outcome: 'success', ...about });
    }
    page.redirectWithNotice(ctx, HERE, t('consents.removed'));
  });

  return router;
}

/** What the user has consented to, and the applications that hold a grant without a consent. */
async function allowedApplications(
  { db, consents, sessions }: Base & ApplicationServices & SessionServices,
  accountId: string,
): Promise<AllowedApplication[]> {
  const consented = await consents.list(accountId);
  const grants = (await sessions.grantsOf(accountId)).filter(
    ({ clientId }) => !consented.some((consent) => consent.clientId === clientId),
  );
  // The account pages are a client without a row, and a SAML service provider gets no tokens.
  const rows = await db.asStored.application.findMany({
    where: { clientId: { in: grants.map(({ clientId }) => clientId) }, protocol: 'oidc' },
    select: { id: true, clientId: true, name: true },
  });
  const implicit = grants.flatMap(({ clientId, granted, grantedAt }) => {
    const row = rows.find((one) => one.clientId === clientId);
    if (!row) return [];
    return [{ applicationId: row.id, clientId, applicationName: row.name, granted, grantedAt, isImplicit: true }];
  });
  const lastUse = await lastUses(db, accountId);
  return [...consented.map((consent) => ({ ...consent, isImplicit: false })), ...implicit].map((one) => ({
    ...one,
    lastUsedAt: lastUse.get(one.clientId),
  }));
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
