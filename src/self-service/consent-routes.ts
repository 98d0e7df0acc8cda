// /account/applications: what the person allowed which application; each can be taken back, and its tokens go with it.
import Router from '@koa/router';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import type { Consents } from '../consents/consents.ts';
import type { Extras, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import type { Sessions } from '../oidc/sessions.ts';
import { describe } from '../signin/consent.ts';
import type { OwnPage } from './page.ts';

export interface ConsentRoutesNeeds {
  page: OwnPage;
  sessions: Pick<Sessions, 'removeGrants'>;
  consents: Consents;
  audit: Audit;
}

const HERE = '/account/applications';
const revokeForm = z.object({ application: z.string().min(1).max(64) });

export function consentRoutes({ page, sessions, consents, audit }: ConsentRoutesNeeds): Router<State, Extras> {
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.required, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const list = await consents.list(account.id);
    ctx.render('account/applications', {
      notice: page.notice(ctx),
      consents: list.map(({ granted, ...consent }) => {
        const { scopes, resources, isOffline } = describe(granted, account);
        const words = [...scopes.map(({ label }) => label), ...resources.map(({ name }) => `Use ${name} in your name`)];
        return { ...consent, granted: isOffline ? [...words, 'Keep this access while you are away'] : words };
      }),
    });
  });

  router.post('/revoke', signedIn.required, protect, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const { application } = await parseForm(ctx, revokeForm);
    const consent = (await consents.list(account.id)).find(({ applicationId }) => applicationId === application);
    if (consent && (await consents.withdraw(account.id, application))) {
      await sessions.removeGrants(account.id, consent.clientId);
      const about = { subjectId: account.id, clientId: consent.clientId, ...page.by(ctx) };
      await audit.record({ type: 'consent.revoked', outcome: 'success', ...about });
    }
    page.back(ctx, HERE, 'The application may not see your data any more.');
  });

  return router;
}
