// /account/applications: what the user has consented to for each application. Revoking a consent also revokes the
// grants of the application, and with them its tokens.
import Router from '@koa/router';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import type { Consents } from '../consents/consents.ts';
import type { Extras, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import type { Sessions } from '../oidc/store/sessions.ts';
import { describeGrant } from '../sign-in/consent-description.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

export interface ConsentRoutesDependencies {
  page: AccountPageHelpers;
  sessions: Pick<Sessions, 'removeGrants'>;
  consents: Consents;
  audit: Audit;
}

const HERE = '/account/applications';
const revokeForm = z.object({ application: z.string().min(1).max(64) });

export function consentRoutes({ page, sessions, consents, audit }: ConsentRoutesDependencies): Router<State, Extras> {
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const list = await consents.list(account.id);
    ctx.render('account/consents', {
      notice: page.takeNotice(ctx),
      consents: list.map(({ granted, ...consent }) => {
        const { scopes, resources, isOffline } = describeGrant(granted, account);
        const sentences = [
          ...scopes.map(({ label }) => label),
          ...resources.map(({ name }) => `Use ${name} in your name`),
        ];
        return { ...consent, granted: isOffline ? [...sentences, 'Keep this access while you are away'] : sentences };
      }),
    });
  });

  router.post('/revoke', signedIn.requireSignIn, protect, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { application } = await parseForm(ctx, revokeForm);
    const consent = (await consents.list(account.id)).find(({ applicationId }) => applicationId === application);
    if (consent && (await consents.withdraw(account.id, application))) {
      await sessions.removeGrants(account.id, consent.clientId);
      const about = { subjectId: account.id, clientId: consent.clientId, ...page.actorOf(ctx) };
      await audit.record({ type: 'consent.revoked', outcome: 'success', ...about });
    }
    page.redirectWithNotice(ctx, HERE, 'The application may not see your data any more.');
  });

  return router;
}
