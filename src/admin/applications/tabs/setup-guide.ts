// The settings to enter in an application, ready to paste.
import type { Application } from '../../../applications/application.ts';
import { needsPkce } from '../../../applications/fields/oidc-client.ts';
import { isLoopback } from '../../../base/config/addresses.ts';
import { type PageText, sentences, t } from '../../../base/texts/text.ts';
import type { Block, Cell } from '../../console/blocks.ts';
import type { IdentityProvider } from '../presets/parts.ts';
import { productOf } from '../presets/presets.ts';
import type { ProductPreset } from '../presets/products.ts';
import { productLifeBlock } from './product-life.ts';

/** How to set the address of this server, for a page. */
export const HOW_TO_SET_THE_ADDRESS = t('console.tabs.setup.how-to-set-address');

/** The settings to enter in the application; before them a warning when they work on this machine only. */
export function setupInstructionBlocks(application: Application, identityProvider: IdentityProvider): Block[] {
  const { protocol, metadata, clientId } = application;
  const { issuer, certificate } = identityProvider;
  const product = productOf(application);
  const own = product?.setupInstructions(identityProvider, withHomePage(metadata)) ?? [];
  const endpoints =
    protocol === 'oidc'
      ? oidcEndpoints(application, identityProvider, own.length > 0)
      : samlEndpoints(clientId, issuer);
  const rows = endpoints.map(([label, values]) => {
    const cells = [values].flat().map((text): Cell => ({ text, copy: label }));
    return { label, value: cells.length === 1 ? cells[0] : cells };
  });
  return [
    ...addressWarning(application, issuer),
    ...own.map(({ title, text, isAlternative }): Block => {
      return { kind: 'code', title, label: title, text, ...(isAlternative && { isClosed: true }) };
    }),
    ...(product ? [productLifeBlock(application, product), documentation(product)] : []),
    {
      kind: 'facts',
      title: own.length > 0 ? t('console.tabs.setup.all-values') : t('console.tabs.setup.enter-values'),
      rows,
    },
    ...(protocol === 'saml'
      ? [{ kind: 'code' as const, label: t('console.tabs.value.signing-certificate'), text: certificate.trim() }]
      : []),
  ];
}

/** Whether the requests of the application need no PKCE challenge. */
export function isWithoutPkce(application: Application): boolean {
  return application.protocol === 'oidc' && !needsPkce(application.metadata);
}

/** Warns of values that only an application on this machine can use. */
function addressWarning({ protocol, metadata }: Application, issuer: string): Block[] {
  const isLocal = (url: string | undefined) =>
    url !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname);
  const ownAddress = protocol === 'oidc' ? metadata.redirect_uris[0] : metadata.acs?.[0]?.url;
  if (!isLocal(issuer) || isLocal(ownAddress)) return [];
  const text = sentences([
    t('console.tabs.setup.local-address', { issuer }),
    t('console.tabs.setup.address-first'),
    HOW_TO_SET_THE_ADDRESS,
  ]);
  return [{ kind: 'text', tone: 'warning', text }];
}

/** The metadata for a guide: an application without a home page has the address of its first redirect URI. */
function withHomePage({ ...metadata }: Record<string, unknown>): Record<string, unknown> {
  const [redirectUri] = Array.isArray(metadata.redirect_uris) ? metadata.redirect_uris : [];
  const address =
    typeof redirectUri === 'string' && URL.canParse(redirectUri) ? new URL(redirectUri).origin : undefined;
  return { ...metadata, client_uri: metadata.client_uri ?? address };
}

type Endpoint = [label: PageText, values: PageText | readonly string[]];

function oidcEndpoints(
  application: Application,
  { issuer, clientId, clientSecret }: IdentityProvider,
  hasGuide: boolean,
): Endpoint[] {
  if (application.protocol !== 'oidc') return [];
  const { metadata } = application;
  const scopes = ['openid', 'profile', 'email', 'roles'];
  if (metadata.grant_types?.includes('refresh_token')) scopes.push('offline_access');
  return [
    [t('console.tabs.value.issuer'), issuer],
    [t('console.tabs.value.discovery'), `${issuer}/.well-known/openid-configuration`],
    [t('console.tabs.value.client-id'), clientId],
    ...(clientSecret ? [[t('console.tabs.value.client-secret'), clientSecret] satisfies Endpoint] : []),
    [t('console.tabs.value.client-authentication'), metadata.token_endpoint_auth_method],
    ...(metadata.redirect_uris.length > 0
      ? [[t('console.tabs.value.redirect-uris'), metadata.redirect_uris] satisfies Endpoint]
      : []),
    [t('console.tabs.value.authorization-endpoint'), `${issuer}/authorize`],
    [t('console.tabs.value.token-endpoint'), `${issuer}/token`],
    ...(metadata.require_pushed_authorization_requests
      ? [[t('console.tabs.value.par-endpoint'), `${issuer}/par`] satisfies Endpoint]
      : []),
    [t('console.tabs.value.userinfo-endpoint'), `${issuer}/userinfo`],
    [t('console.tabs.value.end-session-endpoint'), `${issuer}/end-session`],
    // A guide names the scopes of its product.
    ...(hasGuide ? [] : [[t('console.tabs.value.scopes'), scopes.join(' ')] satisfies Endpoint]),
    ['PKCE', t('console.tabs.value.pkce', { pkce: isWithoutPkce(application) ? 'recommended' : 'required' })],
  ];
}

function samlEndpoints(clientId: string, issuer: string): Endpoint[] {
  return [
    [t('console.tabs.value.metadata'), `${issuer}/saml/metadata`],
    [t('console.tabs.value.entity-id'), `${issuer}/saml/metadata`],
    [t('console.tabs.value.sso-url-bindings'), `${issuer}/saml/sso`],
    [t('console.tabs.value.slo-url-bindings'), `${issuer}/saml/slo`],
    [t('console.tabs.value.idp-initiated'), `${issuer}/saml/sso/start?sp=${encodeURIComponent(clientId)}`],
  ];
}

/** Where the product describes its settings. */
function documentation({ title, documentation: href }: ProductPreset): Block {
  return {
    kind: 'actions',
    items: [{ label: t('console.tabs.setup.documentation', { product: title }), href, isNewTab: true }],
  };
}
