// Which rule a request broke that the engine rejected with an error code.
import { describe, expect, it } from 'vitest';
import { metadataOf, oidcMetadata } from '../../../src/applications/fields/oidc-client.ts';
import {
  type EvaluatedRequest,
  evaluateRules,
  passesRule,
} from '../../../src/protocols/oidc/engine/requests/request-rules.ts';

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
  endpoint: 'authorize',
  received: good,
  clientId: 'app',
  isClientKnown: true,
  metadata,
  message: 'rejected',
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
    [
      'an account without access',
      { ...authorize, access: { rule: 'access', allowed: false } },
      'access_denied',
      'access',
    ],
    ['another network', { ...authorize, access: { rule: 'network', allowed: false } }, 'access_denied', 'network'],
    [
      'consent that was denied',
      { ...authorize, access: { rule: 'access', allowed: true } },
      'access_denied',
      'request',
    ],
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
    expect(results[1]).toMatchObject({ rule: 'registration', state: 'passed' });
    expect(results[2]).toEqual({ rule: 'redirect_uri', received: AFTER, expected: REDIRECT, state: 'failed' });
    expect(results[3]).toMatchObject({ rule: 'response_type', state: 'unknown' });
  });

  it('takes the brokenRule that a check of this server reported', () => {
    const brokenRule = { rule: 'request', received: 'edited', expected: 'a pending AuthnRequest' } as const;
    const results = evaluateRules(authorize, 'invalid_request', brokenRule);
    expect(results.find(({ state }) => state === 'failed')).toEqual({ ...brokenRule, state: 'failed' });
  });
});

describe('passesRule', () => {
  const API = 'https://api.example.com';
  const OTHER = 'https://other.example.com';
  const registered = (fields: object) => ({ ...authorize, metadata: { ...metadata, scope: undefined, ...fields } });

  it.each<[string, boolean | undefined, object, string | undefined]>([
    ['is broken by any API where none is registered', false, {}, API],
    ['is broken by another API than the registered one', false, { resources: [OTHER] }, API],
    ['is passed by a registered API', true, { resources: [OTHER, API] }, API],
    ['is broken by one of several APIs', false, { resources: [API] }, `${API} ${OTHER}`],
    ['cannot be evaluated without an API', undefined, { resources: [API] }, undefined],
  ])('says that the rule of resource %s', (_name, expected, fields, resource) => {
    expect(passesRule('resource', at(registered(fields), { resource }))).toBe(expected);
  });

  it.each<[string, boolean, object, string]>([
    ['is passed by each scope of OpenID Connect where none is registered', true, {}, 'openid email offline_access'],
    ['is passed by a scope of an API, which the engine grants only if it is registered', true, {}, 'openid read'],
    [
      'is broken by another scope of OpenID Connect than the registered one',
      false,
      { scope: 'openid' },
      'openid email',
    ],
    ['is passed by openid where only scopes of an API are registered', true, { scope: 'read' }, 'openid read'],
    ['is broken by email where only scopes of an API are registered', false, { scope: 'read' }, 'openid email'],
  ])('says that the rule of scope %s', (_name, expected, fields, scope) => {
    expect(passesRule('scope', at(registered(fields), { scope }))).toBe(expected);
  });

  it('names no API and the scopes of OpenID Connect as allowed where none is registered', () => {
    const results = evaluateRules(registered({}), 'invalid_target');
    expect(results.find(({ rule }) => rule === 'resource')).toMatchObject({ state: 'failed', expected: 'none' });
    const scope = results.find(({ rule }) => rule === 'scope');
    expect(scope?.expected).toBe('all of OpenID Connect, none of an API');
  });
});
