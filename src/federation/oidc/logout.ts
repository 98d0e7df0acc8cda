// The logout endpoint of an OpenID Connect upstream (OIDC RP-Initiated Logout 1.0).
import * as openid from 'openid-client';
import { limits } from '../../base/limits.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { Connection } from '../connections/connection.ts';
import type { UpstreamLogoutProtocol } from '../logout/upstream-participants.ts';
import { createOidcClient, type OidcClient, type OidcClientDependencies } from './client.ts';

/** Logout at OpenID Connect upstreams; they return the browser to `/upstream/:id/signed-out`. */
export function createOidcLogout(dependencies: OidcClientDependencies, issuer: string): UpstreamLogoutProtocol {
  async function clientOf(connection: Connection) {
    if (connection.kind !== 'oidc') throw new TypeError(`${connection.id} is no OpenID Connect connection`);
    return createOidcClient(dependencies, connection);
  }

  return {
    addressOf: async (connection) => endpointOf(await clientOf(connection)),

    async request(connection, handle) {
      const client = await clientOf(connection);
      if (handle.kind !== 'oidc' || endpointOf(client) === undefined) return undefined;
      const state = randomToken(limits.state.bytes);
      const url = openid.buildEndSessionUrl(client.config, {
        id_token_hint: handle.idToken, // expired or not (section 2)
        post_logout_redirect_uri: `${issuer}/upstream/${connection.id}/signed-out`,
        state,
      });
      return { messageId: state, redirect: { method: 'redirect', url: url.href } };
    },
  };
}

/** Undefined when the upstream has no logout. */
function endpointOf({ metadata: { end_session_endpoint: endpoint } }: OidcClient): string | undefined {
  return endpoint !== undefined && URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)
    ? endpoint
    : undefined;
}
