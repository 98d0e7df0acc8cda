// The start page: what this server is and where its documents are.
import Router from '@koa/router';
import type { Extras, State } from '../http/context.ts';

export function homeRoutes({ issuer }: { issuer: string }): Router<State, Extras> {
  const router = new Router<State, Extras>();
  router.get('/', (ctx) => {
    ctx.render('home', {
      issuer,
      discoveryUrl: `${issuer}/.well-known/openid-configuration`,
      samlMetadataUrl: `${issuer}/saml/metadata`,
    });
  });
  return router;
}
