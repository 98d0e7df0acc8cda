// Infrastructure as well: proxies and networks that sign users in before they reach an application.
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { t } from '../../../base/texts/text.ts';
import { code, quoted } from './guide-text.ts';
import {
  answer,
  baseOf,
  DNS_LABEL,
  DOMAIN,
  endSession,
  hostField,
  ON,
  type ProductPreset,
  SECRET,
  suchAs,
  urlField,
  webApplication,
} from './parts.ts';

export const oauth2Proxy: ProductPreset = {
  id: 'oauth2-proxy',
  ran: { what: 'oauth2-proxy 7.15.6', on: '2026-11' },
  life: {
    renews: 'cookie_refresh = "5m"',
    signOut: 'everywhere',
    session: 'cookie_expire = "168h"',
    certificates: 'provider_ca_files',
    http: true,
  },
  kind: 'infrastructure',
  documentation: 'https://oauth2-proxy.github.io/oauth2-proxy/configuration/providers/openid_connect',
  checkedAgainst:
    'oauth2-proxy/oauth2-proxy, docs/configuration/providers/openid_connect.md and Configuration overview 7.7 (read 2026-11)',
  title: 'oauth2-proxy',
  text: t('console.preset.oauth2-proxy.text'),
  protocol: 'oidc',
  fields: [{ ...urlField('', 'https://app.example.com'), label: t('console.preset.oauth2-proxy.url') }],
  demands: { email: 'verified' },
  toDeclaration: ({ url }) => ({
    ...webApplication('oauth2-proxy', url, ['/oauth2/callback']),
    post_logout_redirect_uris: [`${baseOf(url)}/`],
    grant_types: ['authorization_code', 'refresh_token'],
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: 'oauth2-proxy.cfg',
      text: code`provider = "oidc"
provider_display_name = ${quoted(name)}
oidc_issuer_url = "${issuer}"
client_id = "${clientId}"
client_secret = "${clientSecret}"
redirect_url = "${client_uri}/oauth2/callback"
scope = "openid profile email roles offline_access"
code_challenge_method = "S256"
oidc_groups_claim = "roles"
email_domains = ["*"]
skip_provider_button = true
cookie_refresh = "5m"
cookie_expire = "168h"
whitelist_domains = ["${new URL(issuer).host}"]
cookie_secret = "${t('console.preset.oauth2-proxy.output', { command: "openssl rand -base64 32 | tr -- '+/' '-_'" })}"`,
    },
    {
      title: t('console.preset.sign-out-address'),
      text: `${client_uri}/oauth2/sign_out?rd=${encodeURIComponent(endSession(issuer, clientId, `${client_uri}/`))}`,
    },
    {
      title: t('console.preset.oauth2-proxy.roles'),
      text: t('console.preset.oauth2-proxy.select-roles', {
        file: 'oauth2-proxy.cfg',
        line: code`allowed_groups = ["${t('console.preset.oauth2-proxy.role')}"]`,
      }),
    },
  ],
};

export const tailscale: ProductPreset = {
  id: 'tailscale',
  life: { renews: false, signOut: 'own', session: 'Key expiry: 180 d', certificates: 'public' },
  kind: 'infrastructure',
  documentation: 'https://tailscale.com/kb/1240/sso-custom-oidc',
  checkedAgainst:
    'Tailscale Docs, Custom OIDC providers, KB 1240 (2024); Authelia integration guide for Tailscale, without PKCE (2026-08)',
  title: 'Tailscale',
  text: t('console.preset.tailscale.text'),
  protocol: 'oidc',
  demands: { email: 'address' },
  fields: [
    { name: 'domain', label: t('console.preset.tailscale.domain'), hint: suchAs('example.com'), required: true },
  ],
  toDeclaration: (answers) => ({
    client_name: 'Tailscale',
    client_uri: `https://${answer(answers, 'domain', DOMAIN, faultMessage('domain-name')).toLowerCase()}`,
    redirect_uris: ['https://login.tailscale.com/a/oauth_response'],
    require_pkce: false,
    consent: 'implicit',
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.tailscale.web-server', {
        address: `${client_uri}/.well-known/webfinger?resource=acct:you@…`,
      }),
      text: code`{
  "subject": "acct:${t('console.preset.tailscale.resource')}",
  "links": [{ "rel": "http://openid.net/specs/connect/1.0/issuer", "href": "${issuer}" }]
}`,
    },
    {
      title: t('console.preset.then-at', { address: 'https://login.tailscale.com/start/oidc' }),
      text: code`Issuer URL: ${issuer}
Client ID: ${clientId}
Client secret: ${clientSecret}
Scopes: openid profile email`,
    },
  ],
};

export const cloudflareAccess: ProductPreset = {
  id: 'cloudflare-access',
  life: { renews: false, signOut: 'own', session: 'Session Duration: 24h', certificates: 'public' },
  kind: 'infrastructure',
  documentation: 'https://developers.cloudflare.com/cloudflare-one/identity/idp-integration/generic-oidc/',
  checkedAgainst:
    'cloudflare/cloudflare-docs, cloudflare-one/identity/idp-integration/generic-oidc.mdx (read 2026-11); Authelia integration guide for Cloudflare Zero Trust (2026-08)',
  title: 'Cloudflare Access',
  text: t('console.preset.cloudflare-access.text'),
  protocol: 'oidc',
  demands: { email: 'address' },
  fields: [hostField('team', t('console.preset.cloudflare-access.team'), '.cloudflareaccess.com')],
  // Access reads groups only from a claim of this name.
  toDeclaration: (answers) => {
    const team = answer(answers, 'team', DNS_LABEL, faultMessage('dns-label')).toLowerCase();
    const origin = `https://${team}.cloudflareaccess.com`;
    return {
      ...webApplication('Cloudflare Access', origin, ['/cdn-cgi/access/callback']),
      claims: { groups: 'roles' },
    };
  },
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Zero Trust → Settings → Authentication → Login methods → Add new → OpenID Connect',
      text: code`Name: ${name}
App ID: ${clientId}
Client secret: ${clientSecret}
Auth URL: ${issuer}/authorize
Token URL: ${issuer}/token
Certificate URL: ${issuer}/jwks
Proof Key for Code Exchange (PKCE): ${ON}
OIDC Claims: groups, preferred_username`,
    },
    {
      title: t('console.preset.cloudflare-access.network'),
      text: t('console.preset.cloudflare-access.internet', { issuer }),
    },
  ],
};
