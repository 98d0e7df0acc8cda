// What the pages of applications share: their dependencies, and how a registration, its access rule and the settings to enter
// in the application are displayed.
import type { Accounts } from '../../accounts/accounts.ts';
import type { Application } from '../../applications/application.ts';
import { needsPkce } from '../../applications/fields/oidc-client.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Authority } from '../../rbac/authority.ts';
import type { ConnectionAdmin } from '../connections/actions.ts';
import type { Block, Cell } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import type { Names } from '../console/names.ts';
import type { ResourceAdmin } from '../resources/actions.ts';
import type { RoleAdmin } from '../roles/actions.ts';
import type { ApplicationAdmin } from './actions.ts';
import type { IdentityProvider, ProductPreset } from './presets/parts.ts';
import { productOf } from './presets/presets.ts';
import type { ApplicationPreviews } from './preview.ts';
import type { ApplicationUsage } from './usage.ts';

export interface ApplicationPagesDependencies {
  frame: Frame;
  applications: ApplicationAdmin;
  roles: Pick<RoleAdmin, 'assignable' | 'createMissing'>;
  connections: Pick<ConnectionAdmin, 'list'>;
  resources: Pick<ResourceAdmin, 'list'>;
  accounts: Pick<Accounts, 'find' | 'findByLogin'>;
  audit: Pick<Audit, 'list'>;
  authority: Pick<Authority, 'extent'>;
  names: Names;
  usage: ApplicationUsage;
  preview: ApplicationPreviews;
  now: Clock;
  /** The path of the configuration file. */
  configFile: string | undefined;
  /** What an application has to know of this server. */
  identityProvider(): Omit<IdentityProvider, 'clientId' | 'clientSecret'>;
}

export const protocolName = { oidc: 'OpenID Connect', saml: 'SAML' } as const;

/** The access rule as the cell of a table. */
export function accessCell({ access }: Pick<Application, 'access'>): Cell {
  return access === 'everyone' ? 'Everyone' : access.roles.map((role) => ({ text: role, tone: 'plain' as const }));
}

/** Warns of an application whose requests need no PKCE challenge. */
export function pkceWarning(application: Application): Block[] {
  if (!isWithoutPkce(application)) return [];
  const text =
    'Its requests need no PKCE challenge, so a code that is stolen on its way through the browser may be injected into another ' +
    'sign-in. Require PKCE again as soon as the application sends it.';
  return [{ kind: 'text', tone: 'warning', text }];
}

function isWithoutPkce(application: Application): boolean {
  return application.protocol === 'oidc' && !needsPkce(application.metadata);
}

/** The metadata for a guide: an application without a home page has the address of its first redirect URI. */
function withHomePage({ ...metadata }: Record<string, unknown>): Record<string, unknown> {
  const [redirectUri] = Array.isArray(metadata.redirect_uris) ? metadata.redirect_uris : [];
  const address =
    typeof redirectUri === 'string' && URL.canParse(redirectUri) ? new URL(redirectUri).origin : undefined;
  return { ...metadata, client_uri: metadata.client_uri ?? address };
}

/** The settings to enter in the application, ready to paste. */
export function setupInstructionBlocks(application: Application, identityProvider: IdentityProvider): Block[] {
  const { protocol, metadata, clientId } = application;
  const { issuer, certificate } = identityProvider;
  const product = productOf(application);
  const own = product?.setupInstructions(identityProvider, withHomePage(metadata)) ?? [];
  const endpoints =
    protocol === 'oidc' ? oidcEndpoints(application, identityProvider) : samlEndpoints(clientId, issuer);
  const rows = endpoints.map(([label, text]) => ({ label, value: { text, copy: label } }));
  return [
    ...own.map(({ title, text }): Block => ({ kind: 'code', title, label: title, text })),
    ...(product ? [checkedAgainst(product)] : []),
    { kind: 'facts', title: own.length > 0 ? 'Endpoints' : 'Enter these values in the application', rows },
    ...(protocol === 'saml' ? [{ kind: 'code' as const, label: 'Signing certificate', text: certificate.trim() }] : []),
  ];
}

type Endpoint = [label: string, value: string];

function oidcEndpoints(application: Application, { issuer, clientId, clientSecret }: IdentityProvider): Endpoint[] {
  const { metadata } = application;
  const pushes = 'require_pushed_authorization_requests' in metadata && metadata.require_pushed_authorization_requests;
  return [
    ['Issuer', issuer],
    ['Discovery document', `${issuer}/.well-known/openid-configuration`],
    ['Client ID', clientId],
    ...(clientSecret ? [['Client secret', clientSecret] satisfies Endpoint] : []),
    ['Authorization endpoint', `${issuer}/authorize`],
    ['Token endpoint', `${issuer}/token`],
    ...(pushes ? [['Pushed authorization requests', `${issuer}/par`] satisfies Endpoint] : []),
    ['UserInfo endpoint', `${issuer}/userinfo`],
    ['End session endpoint', `${issuer}/end-session`],
    ['Scopes', 'openid profile email roles'],
    ['PKCE', `S256 (${isWithoutPkce(application) ? 'recommended' : 'required'})`],
  ];
}

function samlEndpoints(clientId: string, issuer: string): Endpoint[] {
  return [
    ['Metadata', `${issuer}/saml/metadata`],
    ['Entity ID', `${issuer}/saml/metadata`],
    ['Single sign-on URL (redirect, POST)', `${issuer}/saml/sso`],
    ['Single logout URL (redirect, POST)', `${issuer}/saml/slo`],
    ['Sign-in from here', `${issuer}/saml/sso/start?sp=${encodeURIComponent(clientId)}`],
  ];
}

function checkedAgainst({ checkedAgainst: documents }: ProductPreset): Block {
  return { kind: 'text', tone: 'small', text: `Checked against: ${documents}.` };
}
