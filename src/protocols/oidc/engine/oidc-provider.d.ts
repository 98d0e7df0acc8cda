// Types for the package's files that library.ts imports: its own types describe the index only, here are the names in use.
declare module 'oidc-provider/lib/provider.js' {
  export { Provider } from 'oidc-provider';
}

declare module 'oidc-provider/lib/helpers/als.js' {
  import type { AsyncLocalStorage } from 'node:async_hooks';
  import type { KoaContextWithOIDC } from 'oidc-provider';

  const storage: AsyncLocalStorage<KoaContextWithOIDC>;

  export { storage as default };
}

declare module 'oidc-provider/lib/consts/client_attributes.js' {
  export const LOOPBACKS: Set<string>;
}

declare module 'oidc-provider/lib/helpers/errors.js' {
  import { errors } from 'oidc-provider';
  export import AccessDenied = errors.AccessDenied;
  export import CustomOIDCProviderError = errors.CustomOIDCProviderError;
  export import InvalidClientAuth = errors.InvalidClientAuth;
  export import InvalidClientMetadata = errors.InvalidClientMetadata;
  export import InvalidDpopProof = errors.InvalidDpopProof;
  export import InvalidGrant = errors.InvalidGrant;
  export import InvalidRequest = errors.InvalidRequest;
  export import InvalidRequestObject = errors.InvalidRequestObject;
  export import InvalidRequestUri = errors.InvalidRequestUri;
  export import InvalidScope = errors.InvalidScope;
  export import InvalidTarget = errors.InvalidTarget;
  export import LoginRequired = errors.LoginRequired;
  export import OIDCProviderError = errors.OIDCProviderError;
  export import SlowDown = errors.SlowDown;
  export import UnmetAuthenticationRequirements = errors.UnmetAuthenticationRequirements;
}

declare module 'oidc-provider/lib/helpers/grants.js' {
  import type { Account, KoaContextWithOIDC, Provider, ResourceServerInstance } from 'oidc-provider';

  interface Proof {
    thumbprint: string;
    jti: string;
  }
  export function validateDpop(provider: Provider, ctx: KoaContextWithOIDC): Promise<Proof | undefined>;
  export function checkDpopRequired(provider: Provider, ctx: KoaContextWithOIDC, proof: Proof | undefined): void;
  export function checkDpopReplay(
    provider: Provider,
    ctx: KoaContextWithOIDC,
    proof: Proof,
    clientId: string,
  ): Promise<void>;
  export function findAccount(
    provider: Provider,
    ctx: KoaContextWithOIDC,
    accountId: string,
    token: never,
  ): Promise<Account | undefined>;
  export function resolveRequestedResources(
    provider: Provider,
    ctx: KoaContextWithOIDC,
  ): Promise<ResourceServerInstance[]>;
  export function buildTokenResponse(provider: Provider, response: Record<string, unknown>): Record<string, unknown>;
}

declare module 'oidc-provider/lib/helpers/interaction_policy/index.js' {
  import { interactionPolicy } from 'oidc-provider';
  export import Check = interactionPolicy.Check;
  export import Prompt = interactionPolicy.Prompt;
  export import base = interactionPolicy.base;
}
