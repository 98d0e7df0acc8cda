// Infrastructure as well: proxies and networks that sign users in before they reach an application.
import { answer, DNS_LABEL, DOMAIN, type ProductPreset, SECRET, urlField, webApplication } from './parts.ts';

export const oauth2Proxy: ProductPreset = {
  id: 'oauth2-proxy',
  kind: 'infrastructure',
  documentation: 'https://oauth2-proxy.github.io/oauth2-proxy/configuration/providers/openid_connect',
  checkedAgainst:
    'oauth2-proxy/oauth2-proxy, docs/configuration/providers/openid_connect.md and Configuration overview 7.7 (read 2026-11)',
  title: 'oauth2-proxy',
  text: 'For an application without a sign-in of its own.',
  protocol: 'oidc',
  fields: [urlField('application behind the proxy', 'https://app.example.com')],
  toDeclaration: ({ url }) => webApplication('oauth2-proxy', url, ['/oauth2/callback']),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: 'oauth2-proxy.cfg',
      text: `provider = "oidc"
provider_display_name = "Gatehouse"
oidc_issuer_url = "${issuer}"
client_id = "${clientId}"
client_secret = "${clientSecret}"
redirect_url = "${client_uri}/oauth2/callback"
scope = "openid profile email roles"
code_challenge_method = "S256"
oidc_groups_claim = "roles"
email_domains = ["*"]
skip_provider_button = true
cookie_secret = "the output of: openssl rand -base64 32 | tr -- '+/' '-_'"`,
    },
    {
      title: 'Only for some roles',
      text: 'Select them on the tab Access of this application, or add to oauth2-proxy.cfg: allowed_groups = ["a role here"]',
    },
  ],
};

export const tailscale: ProductPreset = {
  id: 'tailscale',
  kind: 'infrastructure',
  documentation: 'https://tailscale.com/kb/1240/sso-custom-oidc',
  checkedAgainst:
    'Tailscale Docs, Custom OIDC providers, KB 1240 (2024); Authelia integration guide for Tailscale, without PKCE (2026-08)',
  title: 'Tailscale',
  text: 'A new tailnet for the users of your email domain.',
  protocol: 'oidc',
  fields: [{ name: 'domain', label: 'Domain of the email addresses', hint: 'Such as example.com', required: true }],
  toDeclaration: (answers) => ({
    client_name: 'Tailscale',
    client_uri: `https://${answer(answers, 'domain', DOMAIN, 'must be a domain name').toLowerCase()}`,
    redirect_uris: ['https://login.tailscale.com/a/oauth_response'],
    require_pkce: false,
    consent: 'implicit',
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: `On the web server of the domain, at ${client_uri}/.well-known/webfinger?resource=acct:you@…`,
      text: `{
  "subject": "acct:the address in the parameter resource",
  "links": [{ "rel": "http://openid.net/specs/connect/1.0/issuer", "href": "${issuer}" }]
}`,
    },
    {
      title: 'Then at https://login.tailscale.com/start/oidc',
      text: `Issuer URL: ${issuer}
Client ID: ${clientId}
Client secret: ${clientSecret}
Scopes: openid profile email`,
    },
  ],
};

export const cloudflareAccess: ProductPreset = {
  id: 'cloudflare-access',
  kind: 'infrastructure',
  documentation: 'https://developers.cloudflare.com/cloudflare-one/identity/idp-integration/generic-oidc/',
  checkedAgainst:
    'cloudflare/cloudflare-docs, cloudflare-one/identity/idp-integration/generic-oidc.mdx (read 2026-11); Authelia integration guide for Cloudflare Zero Trust (2026-08)',
  title: 'Cloudflare Access',
  text: 'A login method of Zero Trust.',
  protocol: 'oidc',
  fields: [{ name: 'team', label: 'Team name', hint: 'The part before .cloudflareaccess.com', required: true }],
  // Access reads groups only from a claim of this name.
  toDeclaration: (answers) => {
    const team = answer(answers, 'team', DNS_LABEL, 'must be only the first part of the host name').toLowerCase();
    const origin = `https://${team}.cloudflareaccess.com`;
    return {
      ...webApplication('Cloudflare Access', origin, ['/cdn-cgi/access/callback']),
      claims: { groups: 'roles' },
    };
  },
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Zero Trust → Settings → Authentication → Login methods → Add new → OpenID Connect',
      text: `Name: Gatehouse
App ID: ${clientId}
Client secret: ${clientSecret}
Auth URL: ${issuer}/authorize
Token URL: ${issuer}/token
Certificate URL: ${issuer}/jwks
Proof Key for Code Exchange (PKCE): on
OIDC Claims: groups, preferred_username`,
    },
    {
      title: 'Network access',
      text: `Cloudflare calls ${issuer} from its own servers, so it must be reachable from the internet.`,
    },
  ],
};
