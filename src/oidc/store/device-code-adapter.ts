// The engine's adapter for device codes. A device that polls the token endpoint too often gets `slow_down` (RFC 8628 3.5)
// as long as the user has not answered.
import { engineSeconds } from '../engine/configuration.ts';
import { type Adapter, type AdapterPayload, errors, Provider } from '../engine/library.ts';

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
