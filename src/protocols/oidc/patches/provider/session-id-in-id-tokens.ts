// Patch: Client.prototype.includeSid. The engine puts `sid` into ID tokens only for clients with back-channel logout. Here
// every ID token names its session, so that a logout request can prove which session it means (pages/logout-pages.ts).
import type { Provider } from '../../engine/library.ts';

export function includeSessionId(provider: Provider): void {
  provider.Client.prototype.includeSid = () => true;
}
