// The engine itself. Its keys are read at construction only, so a change of keys builds a second Provider on the same
// storage and swaps one reference: sessions, codes and tokens go on, the new key signs first, the old ones stay
// published.
import type { Sql } from '../platform/sql.ts';
import type { Vault } from '../platform/vault.ts';
import type { ClientLimits } from './client-limits.ts';
import { acceptEverySecret } from './client-secrets.ts';
import type { ClientSource } from './clients.ts';
import { slowDownPolls } from './device-pace.ts';
import { type EngineEvents, listen } from './events.ts';
import { type Configuration, type KoaContextWithOIDC, Provider } from './library.ts';
import { addOwnClaims } from './own-claims.ts';
import { type SessionSavingNeeds, takeOverSaving } from './session-saving.ts';
import { type SendLogoutToken, type SignOutHooks, takeOverSignOut } from './sign-out.ts';
import { respondToTest, TEST_MODE } from './test-mode.ts';

/** What a SAML response mode gets: `payload` holds `state`, and `error` when the request was refused. */
export type ResponseMode = (
  ctx: KoaContextWithOIDC,
  redirectUri: string,
  payload: Record<string, unknown>,
) => Promise<void>;

export interface EngineNeeds {
  issuer: string;
  /** The engine's options with the private JWKs of the moment. */
  configuration(): Promise<Configuration>;
  clients: ClientSource;
  clientLimits: Pick<ClientLimits, 'guard'>;
  vault: Vault;
  sql: Pick<Sql, 'revision'>;
  events: EngineEvents;
  signOut: SignOutHooks;
  sessionSaving: SessionSavingNeeds;
  /** Counts a poll of a device code; true when it came too soon after the last one. */
  isTooSoon(deviceCode: string): Promise<boolean>;
  samlResponse: ResponseMode;
}

export interface Engine {
  current(): Provider;
  /** Takes over the keys as they are now. */
  rebuild(): Promise<void>;
  /** Sends one logout token. Throws when the relying party does not answer with 200 or 204. */
  sendLogoutToken: SendLogoutToken;
}

export async function createEngine(needs: EngineNeeds): Promise<Engine> {
  let { provider, sendLogoutToken } = await build(needs);
  return {
    current: () => provider,
    async rebuild() {
      ({ provider, sendLogoutToken } = await build(needs));
    },
    sendLogoutToken: (...logout) => sendLogoutToken(...logout),
  };
}

async function build(needs: EngineNeeds) {
  const {
    issuer,
    configuration,
    clients,
    clientLimits,
    vault,
    sql,
    events,
    signOut,
    sessionSaving,
    isTooSoon,
    samlResponse,
  } = needs;
  const provider = new Provider(issuer, await configuration());
  // The host guard in front of us has replaced the forwarded headers by facts of our own.
  provider.proxy = true;
  provider.registerResponseMode('saml', samlResponse);
  provider.registerResponseMode(TEST_MODE, respondToTest);
  listen(provider, events);
  acceptEverySecret(provider, { clients, vault, sql });
  clientLimits.guard(provider);
  addOwnClaims(provider);
  takeOverSaving(provider, sessionSaving);
  slowDownPolls(provider, isTooSoon);
  return { provider, sendLogoutToken: takeOverSignOut(provider, signOut) };
}
