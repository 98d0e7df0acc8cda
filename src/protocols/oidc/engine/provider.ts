// The engine itself, an oidc-provider instance. It reads its keys only when it is made, so a change of keys makes a second
// instance on the same storage and replaces the reference: sessions, codes and tokens go on, the new key signs, the old
// ones stay published.

import type { Base } from '../../../base/base.ts';
import { registerIdJag } from '../identity-assertions.ts';
import { createLogoutTokenSender, type SendLogoutToken } from '../patches/provider/logout-token-queue.ts';
import { type ProviderPatchDependencies, providerPatches } from '../patches.ts';
import { registerTokenExchange } from '../token-exchange.ts';
import { type EngineEvents, listenToEvents } from './events.ts';
import { type Configuration, type KoaContextWithOIDC, Provider } from './library.ts';
import { respondToTest, TEST_MODE } from './test-response-mode.ts';

/** A handler for `registerResponseMode`: `payload` holds `state`, and `error` when the request was rejected. */
export type ResponseMode = (
  ctx: KoaContextWithOIDC,
  redirectUri: string,
  payload: Record<string, unknown>,
) => Promise<void>;

export interface EngineDependencies {
  /** The engine's options, with the private JWKs of the moment. */
  configuration(): Configuration;
  events: EngineEvents;
  patches: Base & ProviderPatchDependencies;
  grants: Parameters<typeof registerTokenExchange>[1];
  samlResponse: ResponseMode;
}

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(dependencies: Base & EngineDependencies) {
  let { provider, sendLogoutToken } = build(dependencies);
  return {
    current: (): Provider => provider,
    /** Makes a new instance with the keys as they are now. */
    rebuild(): void {
      ({ provider, sendLogoutToken } = build(dependencies));
    },
    sendLogoutToken: ((clientId, accountId, sid) =>
      sendLogoutToken(clientId, accountId, sid)) satisfies SendLogoutToken,
  };
}

function build({
  configuration,
  events,
  patches,
  grants,
  samlResponse,
  config: { issuer },
}: Base & EngineDependencies) {
  const provider = new Provider(issuer, configuration());
  // The host guard has replaced the forwarded headers by checked values (base/http/host-guard.ts).
  provider.proxy = true;
  provider.registerResponseMode('saml', samlResponse);
  provider.registerResponseMode(TEST_MODE, respondToTest);
  listenToEvents(provider, events);
  const sendLogoutToken = createLogoutTokenSender(provider, patches.reportRejectedClient);
  for (const { apply } of providerPatches) apply(provider, patches);
  registerTokenExchange(provider, grants);
  registerIdJag(provider, grants);
  return { provider, sendLogoutToken };
}
