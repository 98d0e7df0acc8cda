// The rules that a request of each kind has to pass, in their order, with what was received beside what is registered. The
// server has judged already: which rule failed is told by its reason; here the others are laid out around it.
import type { OidcApplication } from '../applications/application.ts';
import type { Refusal } from '../refusals/refusals.ts';
import { type About, accessRule, clientRule, type RuleFacts } from './refusal-facts.ts';
import { SAML_RULES, samlRules } from './refusal-rules-saml.ts';

/** The rule that failed, by what the server said. */
export function failedRule(refusal: Refusal): string {
  const { endpoint, reason, message } = refusal;
  if (endpoint === 'access') return 'access';
  if (endpoint === 'end-session') return endSessionRule(refusal);
  if (endpoint === 'saml') return SAML_RULES[reason] ?? 'form';
  if (reason === 'invalid_client') {
    if (/mechanism/.test(message)) return 'method';
    return /secret/.test(message) ? 'secret' : 'client';
  }
  if (reason === 'invalid_request') {
    if (/grant type/.test(message)) return 'grant';
    if (/code_challenge|PKCE/i.test(message)) return 'pkce';
    return /redirect_uri/.test(message) ? 'redirect_uri' : 'request';
  }
  return OIDC[reason] ?? 'request';
}

function endSessionRule({ reason, message, received }: Refusal): string {
  if (reason === 'invalid_client') return 'client';
  if (/post_logout_redirect_uri/.test(message)) return 'post_logout_redirect_uri';
  return received.id_token_hint ? 'hint' : 'request';
}

const OIDC: Record<string, string> = {
  invalid_redirect_uri: 'redirect_uri',
  unsupported_response_type: 'response_type',
  unsupported_response_mode: 'response_type',
  unauthorized_client: 'grant',
  unsupported_grant_type: 'grant',
  invalid_scope: 'scope',
  invalid_target: 'resource',
  invalid_grant: 'code',
  access_denied: 'access',
};
export function rulesOf(about: About): RuleFacts[] {
  const { refusal, application } = about;
  if (refusal.endpoint === 'access') return [clientRule(about), accessRule(about)];
  if (refusal.endpoint === 'saml') return samlRules(about, application?.protocol === 'saml' ? application : undefined);
  const oidc = application?.protocol === 'oidc' ? application : undefined;
  if (refusal.endpoint === 'end-session') return endSessionRules(about, oidc);
  return refusal.endpoint === 'token' ? tokenRules(about, oidc) : authorizeRules(about, oidc);
}

function authorizeRules(about: About, application: OidcApplication | undefined): RuleFacts[] {
  const { received } = about.refusal;
  const { redirect_uris = [], grant_types = [] } = application?.metadata ?? {};
  const redirectUri = received.redirect_uri;
  return [
    clientRule(about),
    ...(about.refusal.endpoint === 'par' ? proofRules(about, application) : []),
    {
      id: 'redirect_uri',
      label: 'The redirect URI is registered',
      received: redirectUri,
      registered: redirect_uris.join('\n'),
      passesNow: redirectUri !== undefined && redirect_uris.includes(redirectUri),
      explanation: 'They have to agree letter by letter: scheme, case, slash at the end.',
    },
    {
      id: 'response_type',
      label: 'It asks for a code',
      received: received.response_type,
      registered: 'code',
      passesNow: received.response_type === 'code',
    },
    {
      id: 'grant',
      label: 'The application may sign people in',
      received: 'authorization_code',
      registered: grant_types.join(' '),
      passesNow: grant_types.includes('authorization_code'),
    },
    {
      id: 'pkce',
      label: 'It brings a PKCE challenge',
      received: [received.code_challenge_method, received.code_challenge].filter(Boolean).join(' ') || undefined,
      registered: 'S256, always',
      passesNow: received.code_challenge_method === 'S256' && Boolean(received.code_challenge),
      explanation: 'Switch PKCE on in the application: without it a stolen code could be used.',
    },
    scopeRule(about, application),
    resourceRule(about, application),
    { id: 'request', label: 'The rest of the request is in order', received: about.refusal.message },
    accessRule(about),
  ];
}

function endSessionRules(about: About, application: OidcApplication | undefined): RuleFacts[] {
  const { id_token_hint, post_logout_redirect_uri } = about.refusal.received;
  const { post_logout_redirect_uris = [] } = application?.metadata ?? {};
  return [
    {
      id: 'hint',
      label: 'The ID token in it (id_token_hint) is one of this server, for this application',
      received: id_token_hint,
      explanation: about.refusal.message,
    },
    clientRule(about),
    {
      id: 'post_logout_redirect_uri',
      label: 'The address to go to after the sign-out is registered',
      received: post_logout_redirect_uri,
      registered: post_logout_redirect_uris.join('\n'),
      passesNow: post_logout_redirect_uri !== undefined && post_logout_redirect_uris.includes(post_logout_redirect_uri),
      explanation: 'They have to agree letter by letter: scheme, case, slash at the end.',
    },
    { id: 'request', label: 'The rest of the request is in order', received: about.refusal.message },
  ];
}

function tokenRules(about: About, application: OidcApplication | undefined): RuleFacts[] {
  const { received } = about.refusal;
  const { grant_types = [] } = application?.metadata ?? {};
  return [
    clientRule(about),
    ...proofRules(about, application),
    {
      id: 'grant',
      label: 'The grant is allowed',
      received: received.grant_type,
      registered: grant_types.join(' '),
      passesNow: grant_types.includes(received.grant_type as never),
    },
    { id: 'request', label: 'The request is complete', received: about.refusal.message },
    {
      id: 'code',
      label: 'The code or refresh token is good',
      received: about.refusal.message,
      explanation:
        'A code works once, for a minute, with the redirect URI and the PKCE verifier that belong to it; a refresh token once, until access is taken away.',
    },
    scopeRule(about, application),
    resourceRule(about, application),
  ];
}

function proofRules({ refusal }: About, application: OidcApplication | undefined): RuleFacts[] {
  const method = application?.metadata.token_endpoint_auth_method;
  const { authentication } = refusal.received;
  return [
    {
      id: 'method',
      label: 'It proves itself in the registered way',
      received: authentication,
      registered: method,
      passesNow: authentication === method,
    },
    {
      id: 'secret',
      label: 'The secret or key is right',
      received: authentication === 'none' ? 'none' : '(not kept)',
      registered: 'kept as a hash',
      explanation: 'The application holds another secret than the one here. Make a new one and paste it there.',
    },
  ];
}

function scopeRule({ refusal, scopesKnown }: About, application: OidcApplication | undefined): RuleFacts {
  const allowed = application?.metadata.scope;
  const wanted = (refusal.received.scope ?? '').split(' ').filter(Boolean);
  return {
    id: 'scope',
    label: 'The scopes are allowed',
    received: refusal.received.scope,
    registered: allowed ?? 'every one',
    passesNow:
      allowed === undefined ||
      wanted.every((scope) => !scopesKnown.includes(scope) || allowed.split(' ').includes(scope)),
  };
}

function resourceRule({ refusal }: About, application: OidcApplication | undefined): RuleFacts {
  const allowed = application?.metadata.resources;
  const { resource } = refusal.received;
  return {
    id: 'resource',
    label: 'The API is registered, and this application may ask for it',
    received: resource,
    registered: allowed ? allowed.join('\n') : 'every registered one',
    passesNow: resource === undefined ? undefined : allowed?.includes(resource),
  };
}
