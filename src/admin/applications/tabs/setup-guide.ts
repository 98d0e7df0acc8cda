// The settings to enter in an application, ready to paste.
import { type Application, isServiceAccount, type ProxiedApplication } from '../../../applications/application.ts';
import { needsPkce } from '../../../applications/fields/oidc-client.ts';
import { isLoopback } from '../../../base/config/addresses.ts';
import { present } from '../../../base/platform/defined.ts';
import { allOf, oneOf, type PageText, sentences, t } from '../../../base/texts/text.ts';
import type { Block, Cell } from '../../console/blocks.ts';
import { demandsOf, readsRolesOrGroups, rolesReadBy, rolesThatCount } from '../presets/demands.ts';
import { frameworkInstructions } from '../presets/frameworks.ts';
import type { IdentityProvider } from '../presets/parts.ts';
import { productOf } from '../presets/presets.ts';
import type { ProductPreset } from '../presets/products.ts';
import { proxyConfiguration } from '../presets/proxies.ts';

/** How to set the address of this server, for a page. */
export const HOW_TO_SET_THE_ADDRESS = t('console.tabs.setup.how-to-set-address');

/** The settings to enter in the application; before them a warning when they work on this machine only. */
export function setupInstructionBlocks(application: Application, identityProvider: IdentityProvider): Block[] {
  const { protocol, metadata, clientId } = application;
  const { issuer, certificate } = identityProvider;
  const product = productOf(application);
  const own = product?.setupInstructions(identityProvider, withHomePage(metadata)) ?? [];
  const code = !product && application.protocol === 'oidc' ? frameworkInstructions(application, issuer) : [];
  if (application.protocol === 'proxy') return websiteInstructions(application, issuer);
  const endpoints =
    protocol === 'oidc'
      ? oidcEndpoints(application, identityProvider, own.length > 0)
      : samlEndpoints(clientId, issuer);
  const rows = endpoints.map(([label, values]) => {
    const cells = [values].flat().map((text): Cell => ({ text, copy: label }));
    return { label, value: cells.length === 1 ? cells[0] : cells };
  });
  return present([
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
    ...code.map(({ framework, text }): Block => {
      const title = t('console.tabs.setup.code', { framework });
      return { kind: 'code', title, label: title, text, isClosed: true };
    }),
    protocol === 'saml' && {
      kind: 'code',
      label: t('console.tabs.value.signing-certificate'),
      text: certificate.trim(),
    },
  ]);
}

/** The configuration of the proxy, and what an administrator must see to. */
function websiteInstructions(application: ProxiedApplication, issuer: string): Block[] {
  const { title, text, gatehouse } = proxyConfiguration(application, issuer);
  return [
    ...addressWarning(application, issuer),
    { kind: 'text', text: t('console.tabs.setup.proxy-lead', { gatehouse }) },
    { kind: 'code', title, label: title, text },
    { kind: 'text', tone: 'warning', text: t('console.tabs.setup.no-way-past') },
  ];
}

/** Whether the requests of the application need no PKCE challenge. */
export function isWithoutPkce(application: Application): boolean {
  return application.protocol === 'oidc' && !needsPkce(application.metadata);
}

/** Warns of values that only an application on this machine can use. */
function addressWarning({ protocol, clientId, metadata }: Application, issuer: string): Block[] {
  const isLocal = (url: string | undefined) =>
    url !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname);
  const ownAddress =
    protocol === 'proxy' ? clientId : protocol === 'oidc' ? metadata.redirect_uris[0] : metadata.acs?.[0]?.url;
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
  const isService = isServiceAccount(application);
  const ofSignIn = (...endpoints: Endpoint[]) => (isService ? [] : endpoints);
  const scopes = isService ? (metadata.scope ?? '').split(' ') : ['openid', 'profile', 'email', 'roles'];
  if (metadata.grant_types?.includes('refresh_token')) scopes.push('offline_access');
  return present([
    [t('console.tabs.value.issuer'), issuer],
    [t('console.tabs.value.discovery'), `${issuer}/.well-known/openid-configuration`],
    [t('console.tabs.value.client-id'), clientId],
    ...(clientSecret ? [[t('console.tabs.value.client-secret'), clientSecret] satisfies Endpoint] : []),
    [t('console.tabs.value.client-authentication'), metadata.token_endpoint_auth_method],
    metadata.redirect_uris.length > 0 &&
      ([t('console.tabs.value.redirect-uris'), metadata.redirect_uris] satisfies Endpoint),
    ...ofSignIn([t('console.tabs.value.authorization-endpoint'), `${issuer}/authorize`]),
    [t('console.tabs.value.token-endpoint'), `${issuer}/token`],
    metadata.require_pushed_authorization_requests &&
      ([t('console.tabs.value.par-endpoint'), `${issuer}/par`] satisfies Endpoint),
    ...ofSignIn(
      [t('console.tabs.value.userinfo-endpoint'), `${issuer}/userinfo`],
      [t('console.tabs.value.end-session-endpoint'), `${issuer}/end-session`],
    ),
    // A guide names the scopes of its product.
    !(hasGuide || scopes[0] === '') && ([t('console.tabs.value.scopes'), scopes.join(' ')] satisfies Endpoint),
    ...ofSignIn([
      'PKCE',
      t('console.tabs.value.pkce', { pkce: isWithoutPkce(application) ? 'recommended' : 'required' }),
    ]),
  ]);
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

// What becomes of a sign-in at a product: renewal, sign-out in both directions, a disabled user, certificates, what must exist first, and
// whether the guide was tried with the product.

/** The part of a guide that is about the time after its settings. */
function productLifeBlock(application: Application, product: ProductPreset): Block {
  const { life, title, ran, checkedAgainst } = product;
  const values = { product: title };
  const rows: { label: PageText; value: Cell }[] = [
    { label: t('console.life.first'), value: whatMustExist(application, product) },
    {
      label: t('console.life.renewal'),
      value:
        typeof life.renews === 'string'
          ? t('console.life.renewal-setting', { ...values, setting: life.renews })
          : t('console.life.renewal-text', { ...values, renews: yesOrNo(life.renews) }),
    },
    { label: t('console.life.session', values), value: sessionOf(product) },
    {
      label: t('console.life.sign-out-here'),
      value: t('console.life.sign-out-here-text', { ...values, notified: yesOrNo(hasLogoutAddress(application)) }),
    },
    {
      label: t('console.life.sign-out-there', values),
      value: t('console.life.sign-out-there-text', { ...values, reach: life.signOut }),
    },
    { label: t('console.life.disabled'), value: disabledText(application, product) },
    { label: t('console.life.certificates'), value: certificatesText(product) },
    {
      label: t('console.life.tried'),
      value: ran
        ? t('console.life.ran', ran)
        : sentences([t('console.life.not-run', values), t('console.life.checked', { documents: checkedAgainst })]),
    },
  ];
  return { kind: 'facts', title: t('console.life.title', values), rows };
}

const yesOrNo = (isSo: boolean) => (isSo ? 'yes' : 'no');

/** Whether a sign-out here reaches the application: by a logout token, in a frame, or by a LogoutRequest through the browser. */
function hasLogoutAddress(application: Application): boolean {
  const { protocol, metadata } = application;
  if (protocol === 'proxy') return true;
  if (protocol === 'saml') return (metadata.slo ?? []).length > 0;
  return canBeNotified(application) || metadata.frontchannel_logout_uri !== undefined;
}

/** Whether the server can end the session of the product without a browser, so also for a disabled person. */
function canBeNotified({ protocol, metadata }: Application): boolean {
  return protocol === 'oidc' && metadata.backchannel_logout_uri !== undefined;
}

function whatMustExist({ metadata }: Application, product: ProductPreset): PageText {
  const roles = rolesThatCount(product, metadata);
  const demands = demandsOf(product).map(({ demand, isRejected }) =>
    t('console.tabs.step.demand-text', {
      demand,
      product: product.title,
      roles: oneOf(roles),
      of: readsRolesOrGroups(product),
      end: isRejected ? 'rejected' : 'none',
    }),
  );
  const known = rolesReadBy(product);
  const optional = known.length > 0 && !product.demands?.role;
  const named = optional
    ? [t('console.life.roles', { roles: allOf(known.map(({ name }) => name)), of: readsRolesOrGroups(product) })]
    : [];
  const all = [...demands, ...named, ...(product.life.first ? [product.life.first] : [])];
  return all.length > 0 ? sentences(all) : t('console.life.nothing-first');
}

function sessionOf({ life: { session } }: ProductPreset): Cell {
  if (session === 'as-token') return t('console.life.session-as-token');
  if (session === 'as-assertion') return t('console.life.session-as-assertion');
  if (session === 'endless') return t('console.life.session-endless');
  return { text: session, code: true };
}

function disabledText(application: Application, { life, title }: ProductPreset): PageText {
  if (canBeNotified(application)) return t('console.life.disabled-notified', { product: title });
  if (life.session === 'endless') return t('console.life.disabled-endless', { product: title });
  return t('console.life.disabled-text', { product: title, renews: yesOrNo(life.renews !== false) });
}

function certificatesText({ life, title }: ProductPreset): PageText {
  const { certificates, http } = life;
  if (certificates === 'none') return t('console.life.no-calls', { product: title });
  if (certificates === 'public') return t('console.life.public-only', { product: title });
  const values = { product: title };
  return sentences([
    certificates === 'system'
      ? t('console.life.system-trust', values)
      : t('console.life.trust-setting', { setting: certificates }),
    typeof http === 'string'
      ? t('console.life.http-setting', { ...values, setting: http })
      : t('console.life.http', { ...values, accepted: yesOrNo(http === true) }),
  ]);
}
