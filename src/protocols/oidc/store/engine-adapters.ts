// The engine's storage, one adapter for each of its models (oidc-provider's `adapter`).
import { engineSeconds } from '../engine/configuration.ts';
import { type Adapter, type AdapterPayload, errors, Provider } from '../engine/library.ts';
import { type ArtifactStoreDependencies, createArtifactAdapter } from './adapter.ts';
import type { ClientSource } from './clients.ts';
import { createRefreshTokenAdapter, type RefreshTokenRetries } from './refresh-token-retries.ts';
import { createSessionAdapter, type OnSessionDestroyed } from './sessions/session-adapter.ts';

export interface EngineAdaptersDependencies extends ArtifactStoreDependencies {
  clients: ClientSource;
  endSession: OnSessionDestroyed;
  /** Counts a poll of this device code; true when it came too soon after the last one. */
  isTooSoon(deviceCode: string): Promise<boolean>;
  refreshTokenRetries: RefreshTokenRetries;
}

export function createEngineAdapters(dependencies: EngineAdaptersDependencies) {
  const { clients, endSession, isTooSoon, refreshTokenRetries } = dependencies;
  return function adapterOf(model: string): Adapter {
    if (model === 'Client') return clients.adapter;
    if (model === 'RefreshToken')
      return createRefreshTokenAdapter(refreshTokenRetries, (mayUseAgain) =>
        createArtifactAdapter(model, dependencies, mayUseAgain),
      );
    const adapter = createArtifactAdapter(model, dependencies);
    if (model === 'Session') return createSessionAdapter(adapter, endSession);
    if (model === 'DeviceCode') return createDeviceCodeAdapter(adapter, isTooSoon);
    return adapter;
  };
}

/**
 * @param adapter stores the device codes
 * @param isTooSoon counts a poll of this device code; true when it came too soon after the last one
 */
export function createDeviceCodeAdapter(
  adapter: Adapter,
  isTooSoon: (deviceCode: string) => Promise<boolean>,
): Adapter {
  return {
    ...adapter,
    async find(deviceCode) {
      const stored = await adapter.find(deviceCode);
      const oidc = Provider.ctx?.oidc;
      const isPoll = oidc?.route === 'token' && stored && stored.clientId === oidc.client?.clientId;
      if (isPoll && isPending(stored) && (await isTooSoon(deviceCode))) throw new errors.SlowDown();
      return stored;
    },
  };
}

function isPending({ accountId, error, exp = 0 }: AdapterPayload): boolean {
  return !accountId && !error && exp > engineSeconds();
}
