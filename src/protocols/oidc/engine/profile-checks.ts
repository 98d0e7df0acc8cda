// Checks of clients with a security profile (applications/security-profile.ts), as functions for the engine's documented hooks.
// Each returns at once for other clients.

import { type SecurityProfile, securityProfiles } from '../../../applications/fields/oidc-client.ts';
import { enforceProfileFields, isSecurityProfile, profileAlgs } from '../../../applications/security-profile.ts';
import type { Context } from '../../../base/http/context.ts';
import { limits } from '../../../base/limits.ts';
import { sentenceOf } from '../../../base/texts/faults.ts';
import { jwkFault } from '../../../core/keys/foreign-keys.ts';
import { asciiText } from './app-context.ts';
import { type Client, type Configuration, errors, type KoaContextWithOIDC, type Provider } from './library.ts';

type Claims = Record<string, unknown>;

/** The registered profile of the engine's client; undefined for most. */
export function profileOf(client: Client | undefined): SecurityProfile | undefined {
  const profile = client && Reflect.get(client, 'profile');
  return isSecurityProfile(profile) ? profile : undefined;
}

/** oidc-provider's `extraClientMetadata`: enforces the fields that the profile fixes. */
export const profileMetadata = {
  properties: ['profile'],
  validator(_ctx, _key, profile, metadata) {
    if (profile === undefined) return;
    if (!isSecurityProfile(profile))
      throw new errors.InvalidClientMetadata(`profile must be ${securityProfiles.join(' or ')}`);
    enforceProfileFields(profile, metadata as Claims);
  },
} satisfies Configuration['extraClientMetadata'];

/** Requests whose access token belongs to a client with a profile. */
const profileRequests = new WeakSet<object>();

/**
 * Records whether the access token of a userinfo request belongs to a client with a profile. The engine calls requireNonce
 * before it reads the token, so the profile of the token's client is looked up here. A token without DPoP needs no nonce.
 */
export async function recordProfileOfToken(ctx: Context, provider: Provider): Promise<void> {
  const [, value] = /^dpop (\S+)/i.exec(ctx.get('Authorization')) ?? [];
  if (!value) return;
  const token = await provider.AccessToken.find(value);
  const client = token?.clientId === undefined ? undefined : await provider.Client.find(token.clientId);
  if (profileOf(client)) profileRequests.add(ctx);
}

/**
 * The checks of the JWTs that a client with a profile signs. `now` is the engine's own clock (epoch seconds), with which the
 * engine checks the other times of a JWT.
 */
export function createProfileChecks(now: () => number) {
  /** FAPI 2.0 Security Profile 5.3.2.1-13: 10 seconds in the future are accepted, 60 are not. */
  function timeFault(claims: Claims): string | undefined {
    const latest = now() + limits.fapi.futureSeconds;
    for (const name of ['iat', 'nbf']) {
      const time = claims[name];
      if (time !== undefined && !(typeof time === 'number' && time <= latest)) return `${name} is in the future`;
    }
    return undefined;
  }

  function lifetimeFault({ nbf, exp }: Claims): string | undefined {
    const { requestObjectSeconds } = limits.fapi;
    if (typeof nbf !== 'number' || nbf < now() - requestObjectSeconds) return 'nbf must be at most 60 minutes ago';
    if (typeof exp !== 'number' || exp <= nbf || exp > nbf + requestObjectSeconds)
      return 'exp must be at most 60 minutes after nbf';
    return undefined;
  }

  return {
    /** `assertJwtClientAuthClaimsAndHeader`: FAPI 2.0 Security Profile 5.3.2.1, for a client assertion, after its signature was verified. */
    assertClientAssertion(ctx: KoaContextWithOIDC, claims: Claims, header: Claims, client: Client): void {
      if (!profileOf(client)) return;
      const fault =
        algFault(header) ??
        timeFault(claims) ??
        (claims.aud === ctx.oidc.issuer ? undefined : 'aud must be the issuer, as one string');
      if (fault !== undefined) throw new errors.InvalidClientAuth(fault);
    },

    /** `features.requestObjects.assertJwtClaimsAndHeader`: FAPI 2.0 Message Signing 5.3.1, for a signed request object. */
    assertRequestObject(ctx: KoaContextWithOIDC, claims: Claims, header: Claims, client: Client): void {
      // At the authorization endpoint it is the pushed request, which was checked at the PAR endpoint (RFC 9126).
      if (!profileOf(client) || ctx.oidc.route !== 'pushed_authorization_request') return;
      const fault = algFault(header) ?? timeFault(claims) ?? lifetimeFault(claims);
      if (fault !== undefined) throw new errors.InvalidRequestObject(fault);
    },

    /**
     * `features.dPoP.requireNonce`, which the engine asks before it verifies a proof. Throws invalid_dpop_proof for a key that breaks the rule
     * for foreign keys, whatever the client, and for a proof from the future, whose time a nonce does not limit.
     */
    requireNonce(ctx: KoaContextWithOIDC): boolean {
      const { jwk } = partOf(ctx.get('DPoP'), 0);
      const keyFault = jwk === undefined ? undefined : jwkFault(jwk);
      // At the userinfo endpoint it is in a header, too (RFC 6750 3).
      if (keyFault) throw new errors.InvalidDpopProof(asciiText(sentenceOf(keyFault, 'the key in the proof')));
      if (!profileOf(ctx.oidc.client) && !profileRequests.has(ctx)) return false;
      const fault = timeFault(partOf(ctx.get('DPoP'), 1));
      if (fault !== undefined) throw new errors.InvalidDpopProof(fault);
      return true;
    },
  };
}

/** The header (0) or the claims (1) of a JWT that is not verified yet; none when it is malformed, which the engine reports. */
function partOf(jwt: string, part: 0 | 1): Claims {
  try {
    return JSON.parse(Buffer.from(jwt.split('.')[part] ?? '', 'base64url').toString()) ?? {};
  } catch {
    return {};
  }
}

function algFault({ alg }: Claims): string | undefined {
  return profileAlgs.includes(String(alg)) ? undefined : 'alg must be PS256, ES256 or EdDSA';
}
