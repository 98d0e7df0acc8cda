// Access tokens that this server itself accepts: for the admin API, access evaluation, and websites behind a proxy. They are opaque and
// stored, so that a logout, a removed role, a disabled application or a removed scope takes effect at once.
import { z } from 'zod';
import type { StatedSignIn } from '../../../people/mfa/step-up.ts';
import { chosenGroupOf } from '../claims/chosen-group.ts';
import type { AccessToken, ClientCredentials, Provider } from '../engine/library.ts';
import { createJwtAccessTokens } from '../patches/provider/jwt-introspection.ts';

export interface ApiToken {
  clientId: string;
  /** Absent when the application acts without a user (client_credentials). */
  accountId: string | undefined;
  /** Those of them that the application is still registered with. */
  scopes: string[];
  /** The sign-in of a user's token. */
  signIn: StatedSignIn;
  /** The id of the group that the user signed in for. */
  group: string | undefined;
  /** The resource in the token request (RFC 8707). */
  audience: string;
}

export type ApiTokens = ReturnType<typeof createApiTokens>;

interface ComparingClient {
  clientAuthMethod: string;
  compareClientSecret(secret: string): Promise<boolean>;
}

export function createApiTokens(dependencies: { provider(): Provider } & Parameters<typeof createJwtAccessTokens>[1]) {
  const { provider, clients } = dependencies;
  let jwts: (ReturnType<typeof createJwtAccessTokens> & { of: Provider }) | undefined;

  function jwtTokens() {
    const current = provider();
    if (jwts?.of !== current) jwts = { of: current, ...createJwtAccessTokens(current, dependencies) };
    return jwts;
  }

  async function findJwt(value: string): Promise<AccessToken | ClientCredentials | undefined> {
    const { verified, tokenOf } = jwtTokens();
    const payload = await verified(value);
    return (payload && (await tokenOf(payload))) || undefined;
  }

  async function findOpaque(value: string): Promise<AccessToken | ClientCredentials | undefined> {
    const { AccessToken, ClientCredentials } = provider();
    return (await AccessToken.find(value)) ?? (await ClientCredentials.find(value));
  }

  return {
    /** The token of this value; undefined when it is not valid now. */
    find: async (value: string): Promise<ApiToken | undefined> => validToken(await findOpaque(value)),

    /** The same of a JWT too, for APIs that are registered. */
    findAny: async (value: string): Promise<ApiToken | undefined> =>
      validToken(await (value.includes('.') ? findJwt(value) : findOpaque(value))),

    /** Whether this is a JWT of this server that has not expired. */
    isSigned: async (value: string): Promise<boolean> =>
      value.includes('.') && (await jwtTokens().verified(value)) !== undefined,

    /** Whether this is a secret of the client, and the client authenticates by its secret. */
    async isSecretOf(clientId: string, secret: string): Promise<boolean> {
      const client = (await provider().Client.find(clientId)) as unknown as ComparingClient | undefined;
      if (!client || !['client_secret_basic', 'client_secret_post'].includes(client.clientAuthMethod)) return false;
      return client.compareClientSecret(secret);
    },
  };

  async function validToken(token: AccessToken | ClientCredentials | undefined): Promise<ApiToken | undefined> {
    // A token that is bound to a key is rejected, because its proof of possession is not checked here.
    if (!token?.isValid || token.isSenderConstrained() || !token.clientId) return undefined;
    // There is no client when the application is disabled.
    if (!(await provider().Client.find(token.clientId))) return undefined;
    const { clientId, scope = '', aud } = token;
    // An administrator may have removed the API or a scope from the application in the meantime.
    const { resources = [], scope: registered = '' } = (await clients.applicationOf(clientId))?.metadata ?? {};
    if (typeof aud !== 'string' || !resources.includes(aud)) return undefined;
    const named = registered.split(' ');
    return {
      clientId,
      accountId: 'accountId' in token ? token.accountId : undefined,
      scopes: scope.split(' ').filter((one) => one !== '' && named.includes(one)),
      signIn: signInOf('extra' in token ? token.extra : undefined),
      group: chosenGroupOf(token),
      audience: aud,
    };
  }
}

const storedSignIn = z.object({
  acr: z.string().optional(),
  amr: z.array(z.string()).default([]),
  auth_time: z.number().default(0),
});

/** The data that `protocols/oidc/claims/find-account.ts` stored with the token. */
function signInOf(extra: unknown): StatedSignIn {
  const { acr, amr, auth_time } = storedSignIn.parse(extra ?? {});
  return { acr, amr, authTime: new Date(auth_time * 1000) };
}
