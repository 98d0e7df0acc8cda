// The start page: links to the discovery document and the SAML metadata.
import Router from '@koa/router';
import type { Extras, State } from '../context.ts';

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
