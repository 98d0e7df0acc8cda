// The engine itself, an oidc-provider instance. It reads its keys only when it is made, so a change of keys makes a second
// instance on the same storage and replaces the reference: sessions, codes and tokens go on, the new key signs, the old
// ones stay published.

import type { Base } from '../../../base/base.ts';
import { registerIdJag } from '../identity-assertions.ts';
import type { OidcServices } from '../oidc-services.ts';
import { createLogoutTokenSender, type SendLogoutToken } from '../patches/provider/logout-token-queue.ts';
import { type ProviderPatchDependencies, providerPatches } from '../patches.ts';
import { registerTokenExchange } from '../token-exchange.ts';
import { createConfiguration } from './configuration.ts';
import { listenToEvents } from './events.ts';
import { Provider } from './library.ts';
import { respondToTest, TEST_MODE } from './test-response-mode.ts';

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(services: OidcServices, patches: Base & ProviderPatchDependencies) {
  let { provider, sendLogoutToken } = build(services, patches);
  return {
    current: (): Provider => provider,
    /** Makes a new instance with the keys as they are now. */
    rebuild(): void {
      ({ provider, sendLogoutToken } = build(services, patches));
    },
    sendLogoutToken: ((clientId, accountId, sid) =>
      sendLogoutToken(clientId, accountId, sid)) satisfies SendLogoutToken,
  };
}

function build(services: OidcServices, patches: Base & ProviderPatchDependencies) {
  const provider = new Provider(services.config.issuer, createConfiguration(services));
  // The host guard has replaced the forwarded headers by checked values (base/http/host-guard.ts).
  provider.proxy = true;
  provider.registerResponseMode('saml', services.saml.respond);
  provider.registerResponseMode(TEST_MODE, respondToTest);
  listenToEvents(provider, services);
  const sendLogoutToken = createLogoutTokenSender(provider, patches.reportRejectedClient);
  for (const { apply } of providerPatches) apply(provider, patches);
  const grants = { ...services, jwks: patches.jwks, mayHoldTokenFor: patches.mayHoldTokenFor };
  registerTokenExchange(provider, grants);
  registerIdJag(provider, grants);
  return { provider, sendLogoutToken };
}
