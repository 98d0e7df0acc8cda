// Code for a web application of one's own: views/frameworks has a template for each framework, which prints every value as a quoted text
// that all of their languages and YAML read. The client secret is never in code: it comes from the environment.
import { Eta } from 'eta';
import type { OidcApplication } from '../../../applications/application.ts';
import { viewsDir } from '../../../base/platform/package.ts';

/** `checkedAgainst`: the versions that the code was written for; test/peers/frameworks.ts runs those that this needs. */
export const frameworks = [
  { id: 'express', title: 'Express', checkedAgainst: 'Express 5.3, openid-client 6.9' },
  { id: 'nextjs', title: 'Next.js', checkedAgainst: 'Next.js 16, Auth.js 5' },
  { id: 'spring', title: 'Spring Security', checkedAgainst: 'Spring Boot 3.5' },
  { id: 'aspnet', title: 'ASP.NET Core', checkedAgainst: 'ASP.NET Core 9' },
  { id: 'django', title: 'Django', checkedAgainst: 'Django 5.2, mozilla-django-oidc 5' },
  { id: 'go', title: 'Go', checkedAgainst: 'go-oidc 3.21, oauth2 0.38' },
] as const;

const eta = new Eta({
  views: viewsDir,
  cache: true,
  autoTrim: [false, 'nl'],
  escapeFunction: (value) => JSON.stringify(value),
});

/** What the code requests, of what the application may. */
const SCOPES = ['openid', 'profile', 'email'];

/**
 * The code for each framework. Empty for an application that redeems no code with a client secret.
 *
 * @param issuer of this server
 */
export function frameworkInstructions(
  { clientId, metadata }: OidcApplication,
  issuer: string,
): { framework: string; text: string }[] {
  const {
    token_endpoint_auth_method: method,
    redirect_uris: [redirectUri],
  } = metadata;
  const [afterSignOut] = metadata.post_logout_redirect_uris ?? [];
  if (redirectUri === undefined || !/^https?:/.test(redirectUri)) return [];
  if (method !== 'client_secret_basic' && method !== 'client_secret_post') return [];
  const { origin, pathname } = new URL(redirectUri);
  const allowed = metadata.scope?.split(' ') ?? SCOPES;
  const scopes = SCOPES.filter((scope) => allowed.includes(scope));
  const parameters = { client_id: clientId, ...(afterSignOut && { post_logout_redirect_uri: afterSignOut }) };
  const values = {
    issuer,
    isHttp: issuer.startsWith('http:'),
    clientId,
    isBasic: method === 'client_secret_basic',
    algorithm: metadata.id_token_signed_response_alg ?? 'RS256',
    redirectUri,
    redirectPath: pathname,
    origin,
    scopes,
    scope: scopes.join(' '),
    afterSignOut,
    endSession: `${issuer}/end-session?${new URLSearchParams(parameters)}`,
  };
  return frameworks.map(({ id, title }) => ({ framework: title, text: eta.render(`frameworks/${id}`, values) }));
}
