// Patch after the engine, which reads its options only at start: discovery and JWKS follow the settings and what is registered.
import type { Context } from '../../../../base/http/context.ts';
import { routes } from '../../engine/configuration.ts';
import type { Published } from '../../engine/published.ts';
import { DISCOVERY } from '../../engine/routes.ts';

/** The algorithms with which this server signs; those of clients are another matter. */
const SIGNING = [
  'id_token_signing_alg_values_supported',
  'userinfo_signing_alg_values_supported',
  'introspection_signing_alg_values_supported',
  'authorization_signing_alg_values_supported',
];

export async function followSettings(ctx: Context, published: () => Promise<Published>): Promise<void> {
  if (ctx.status !== 200) return;
  if (ctx.path === routes.jwks) {
    const { algs } = await published();
    const { keys } = ctx.body as { keys: { alg: string }[] };
    ctx.body = { keys: keys.filter(({ alg }) => algs.includes(alg)) };
  }
  if (!DISCOVERY.includes(ctx.path)) return;
  const { algs, registration } = await published();
  const document = ctx.body as Record<string, unknown>;
  for (const name of SIGNING) document[name] = (document[name] as string[]).filter((alg) => algs.includes(alg));
  if (!registration) delete document.registration_endpoint;
  // `none` is the response type of SAML service providers (docs/decisions/0001-one-engine-two-protocols.md); no client can use it.
  document.response_types_supported = ['code'];
  // Users may have claims in other languages too; `claims_locales` supports these as well.
  const { tags } = ctx.state.offeredLanguages();
  Object.assign(document, { ui_locales_supported: tags, claims_locales_supported: tags });
}
