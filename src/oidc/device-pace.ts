// A device that asks more often than it was told to hears `slow_down` (RFC 8628 3.5) while it has to wait.
import { errors, Provider } from './library.ts';

type DeviceCodes = Provider['DeviceCode'];
type DeviceCode = InstanceType<DeviceCodes>;

/** `isTooSoon` counts the poll of this device code. Call once for each Provider. */
export function slowDownPolls(provider: Provider, isTooSoon: (deviceCode: string) => Promise<boolean>): void {
  const codes = provider.DeviceCode;
  const find = codes.find;
  codes.find = async function findAtPace(value: string, options?: object) {
    const code = (await find.call(codes, value, options)) as DeviceCode | undefined;
    const ctx = Provider.ctx?.oidc;
    const isPoll = ctx?.route === 'token' && code?.clientId === ctx.client?.clientId;
    if (code && isPoll && isPending(code) && (await isTooSoon(value))) throw new errors.SlowDown();
    return code;
  } as DeviceCodes['find'];
}

function isPending({ accountId, error, isExpired }: DeviceCode): boolean {
  return !accountId && !error && !isExpired;
}
