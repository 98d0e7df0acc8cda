// What the pages of applications share: their dependencies, and how a registration, its access rule and the settings to enter
// in the application are displayed.
import type { Application } from '../../applications/application.ts';
import { needsPkce } from '../../applications/fields/oidc-client.ts';
import type { Block, Cell, Field } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import type { RoleAdmin } from '../roles/actions.ts';
import type { ApplicationAdmin } from './actions.ts';
import { claimLines } from './form/claims.ts';
import { profileName } from './form/profile.ts';
import type { IdentityProvider, ProductPreset } from './presets/parts.ts';
import { productPresets } from './presets/presets.ts';

export interface ApplicationPagesDependencies {
  frame: Frame;
  applications: ApplicationAdmin;
  roles: Pick<RoleAdmin, 'assignable' | 'createMissing'>;
  /** What an application has to know of this server. */
  identityProvider(): Omit<IdentityProvider, 'clientId' | 'clientSecret'>;
}

export const protocolName = { oidc: 'OpenID Connect', saml: 'SAML' } as const;

/** The access rule as the cell of a table. */
export function accessCell({ access }: Pick<Application, 'access'>): Cell {
  return access === 'everyone' ? 'Everyone' : access.roles.map((role) => ({ text: role, tone: 'plain' as const }));
}

/** The registration as a list of facts. */
export function detailsBlock(application: Application): Block {
  const { metadata, protocol, clientId, consent } = application;
  const rows: { label: string; value: Cell }[] = [
    { label: 'Protocol', value: protocolName[protocol] },
    { label: protocol === 'oidc' ? 'Client ID' : 'Entity ID', value: { text: clientId, copy: 'identifier' } },
    { label: 'Who may open it', value: accessCell(application) },
    { label: 'Consent', value: consent === 'implicit' ? 'Not asked' : 'Users are asked' },
  ];
  if (protocol === 'oidc') {
    rows.push(
      { label: 'Redirect URIs', value: codes(metadata.redirect_uris) },
      { label: 'After signing out', value: codes(metadata.post_logout_redirect_uris) },
      { label: 'Grants', value: codes(metadata.grant_types) },
      { label: 'Client authentication', value: { text: metadata.token_endpoint_auth_method, code: true } },
      ...(metadata.profile ? [{ label: 'Security', value: profileName(metadata.profile) }] : []),
      ...(needsPkce(metadata) ? [] : [{ label: 'PKCE', value: { text: 'not required', tone: 'warn' as const } }]),
      ...(metadata.scope ? [{ label: 'Scopes', value: { text: metadata.scope, code: true } }] : []),
      ...(metadata.claims ? [{ label: 'Own claims', value: codes(claimLines(metadata.claims)) }] : []),
      ...(metadata.id_token_claims === 'conform' ? [{ label: 'Claims of scopes', value: 'at UserInfo only' }] : []),
    );
  } else {
    rows.push(
      {
        label: 'Registered by',
        value: metadata.metadata_url ?? (metadata.metadata_xml ? 'its metadata, pasted' : 'its addresses, by hand'),
      },
      ...(metadata.acs ? [{ label: 'ACS', value: codes(metadata.acs.map(({ url }) => url)) }] : []),
      { label: 'NameID', value: metadata.name_id_format ?? 'as requested, else persistent' },
      {
        label: 'Attributes',
        value: codes(Object.entries(metadata.attributes).map(([name, field]) => `${name} = ${field}`)),
      },
      { label: 'Signed', value: { assertion: 'the assertion', response: 'the response', both: 'both' }[metadata.sign] },
      { label: 'May be opened from the portal', value: metadata.idp_initiated ? 'yes' : 'no' },
    );
  }
  return { kind: 'facts', title: 'Registered', rows };
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
  const { issuer, clientSecret, certificate } = identityProvider;
  const product = productPresets.find((one) => one.protocol === protocol && application.name.startsWith(one.title));
  const own = product?.setupInstructions(identityProvider, withHomePage(metadata)) ?? [];
  const general =
    protocol === 'oidc'
      ? [
          `Issuer: ${issuer}`,
          `Discovery: ${issuer}/.well-known/openid-configuration`,
          `Client ID: ${clientId}`,
          ...(clientSecret ? [`Client secret: ${clientSecret}`] : []),
          `Authorization endpoint: ${issuer}/authorize`,
          `Token endpoint: ${issuer}/token`,
          ...(metadata.require_pushed_authorization_requests ? [`Pushed requests: ${issuer}/par`] : []),
          `UserInfo endpoint: ${issuer}/userinfo`,
          `Sign-out endpoint: ${issuer}/end-session`,
          'Scopes: openid profile email roles',
          `PKCE: S256 (${isWithoutPkce(application) ? 'recommended' : 'required'})`,
        ]
      : [
          `Metadata: ${issuer}/saml/metadata`,
          `Entity ID: ${issuer}/saml/metadata`,
          `Single sign-on (redirect, POST): ${issuer}/saml/sso`,
          `Single logout (redirect, POST): ${issuer}/saml/slo`,
          `Open from here: ${issuer}/saml/sso/start?sp=${encodeURIComponent(clientId)}`,
          `Certificate:\n${certificate.trim()}`,
        ];
  return [
    ...own.map(({ title, text }): Block => ({ kind: 'code', title, label: title, text })),
    ...(product ? [checkedAgainst(product)] : []),
    {
      kind: 'code',
      title: own.length > 0 ? 'The same, one by one' : 'Paste into the application',
      label: 'Settings for the application',
      text: general.join('\n'),
    },
  ];
}

function checkedAgainst({ checkedAgainst: documents }: ProductPreset): Block {
  return { kind: 'text', tone: 'small', text: `Checked against: ${documents}.` };
}

/** The access rule as fields of a form. */
export function accessFields(application: Pick<Application, 'access'>, roles: readonly string[]): Field[] {
  const { access } = application;
  return [
    {
      name: 'open',
      label: 'Who may open it',
      type: 'select',
      value: access === 'everyone' ? 'everyone' : 'roles',
      options: [
        { value: 'everyone', label: 'Everyone' },
        { value: 'roles', label: 'Only users with one of these roles' },
      ],
    },
    {
      name: 'roles',
      label: 'Roles',
      type: 'checks',
      values: access === 'everyone' ? [] : access.roles,
      options: roles.map((role) => ({ value: role, label: role })),
    },
  ];
}

function codes(values: readonly string[]): Cell {
  return values.map((value) => ({ text: value, code: true }));
}
