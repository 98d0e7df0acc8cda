// Which rule a request broke that the engine rejected with an error code.
import { describe, expect, it } from 'vitest';
import { metadataOf, oidcMetadata } from '../../../src/applications/oidc-client.ts';
import { type EvaluatedRequest, evaluateRules } from '../../../src/oidc/engine/request-rules.ts';

const REDIRECT = 'https://app.example.com/cb';
const AFTER = 'https://app.example.com/bye';
const metadata = metadataOf(
  oidcMetadata.parse({ redirect_uris: [REDIRECT], post_logout_redirect_uris: [AFTER], scope: 'openid' }),
);
const good = {
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'openid',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
};
const authorize: EvaluatedRequest = {
  ...{ endpoint: 'authorize', received: good, clientId: 'app', isClientKnown: true, metadata, message: 'rejected' },
};
const token: EvaluatedRequest = {
  ...authorize,
  endpoint: 'token',
  received: { grant_type: 'authorization_code', authentication: 'client_secret_basic' },
};
const logout: EvaluatedRequest = {
  ...authorize,
  endpoint: 'end-session',
  received: { post_logout_redirect_uri: AFTER },
};
const unknownClient = { isClientKnown: false, metadata: undefined };
const at = (request: EvaluatedRequest, received: object) => ({
  ...request,
  received: { ...request.received, ...received },
});

describe('evaluateRules', () => {
  it.each<[string, EvaluatedRequest, string, string]>([
    ['an unknown client', { ...authorize, ...unknownClient }, 'invalid_client', 'client'],
    [
      'an unknown redirect URI',
      at(authorize, { redirect_uri: `${REDIRECT}/` }),
      'invalid_redirect_uri',
      'redirect_uri',
    ],
    ['no redirect URI', at(authorize, { redirect_uri: undefined }), 'invalid_request', 'redirect_uri'],
    ['no PKCE', at(authorize, { code_challenge: undefined }), 'invalid_request', 'pkce'],
    ['a PKCE challenge that is too short', at(authorize, { code_challenge: 'x' }), 'invalid_request', 'pkce'],
    ['plain PKCE', at(authorize, { code_challenge_method: 'plain' }), 'invalid_request', 'pkce'],
    ['another fault', authorize, 'invalid_request', 'request'],
    ['an unknown scope', at(authorize, { scope: 'openid email' }), 'invalid_scope', 'scope'],
    ['an account without access', { ...authorize, access: { allowed: false } }, 'access_denied', 'access'],
    ['consent that was denied', { ...authorize, access: { allowed: true } }, 'access_denied', 'request'],
    ['another authentication method', at(token, { authentication: 'none' }), 'invalid_client', 'method'],
    ['a wrong secret', token, 'invalid_client', 'secret'],
    ['an unknown client at the token endpoint', { ...token, ...unknownClient }, 'invalid_client', 'client'],
    ['a grant that is not allowed', at(token, { grant_type: 'client_credentials' }), 'invalid_request', 'grant'],
    ['a used code', token, 'invalid_grant', 'code'],
    [
      'an unknown post-logout redirect URI',
      at(logout, { post_logout_redirect_uri: REDIRECT }),
      'invalid_request',
      'post_logout_redirect_uri',
    ],
    [
      'a hint that is not valid',
      { ...at(logout, { id_token_hint: '(sent)' }), ...unknownClient, isHintAccepted: false },
      'invalid_request',
      'hint',
    ],
    [
      'a hint for an unknown client',
      { ...at(logout, { id_token_hint: '(sent)' }), ...unknownClient, isHintAccepted: false },
      'invalid_client',
      'client',
    ],
  ])('names the rule of %s', (_name, request, error, rule) => {
    const results = evaluateRules(request, error);
    expect(results.filter(({ state }) => state === 'failed').map((one) => one.rule)).toEqual([rule]);
  });

  it('returns what was received and what is registered', () => {
    const results = evaluateRules(at(authorize, { redirect_uri: AFTER }), 'invalid_redirect_uri');
    expect(results[0]).toMatchObject({ rule: 'client', state: 'passed' });
    expect(results[1]).toEqual({ rule: 'redirect_uri', received: AFTER, expected: REDIRECT, state: 'failed' });
    expect(results[2]).toMatchObject({ rule: 'response_type', state: 'unknown' });
  });

  it('takes the violation that a check of this server reported', () => {
    const violation = { rule: 'request', received: 'edited', expected: 'a pending AuthnRequest' } as const;
    const results = evaluateRules(authorize, 'invalid_request', violation);
    expect(results.find(({ state }) => state === 'failed')).toEqual({ ...violation, state: 'failed' });
  });
});
