// The engine's pages of the device flow (RFC 8628 3.3): enter the code, confirm the device, result.

import { unavailableIn } from '../../storage/unavailable.ts';
import { appContext } from '../engine/app-context.ts';
import type { ErrorOut, KoaContextWithOIDC } from '../engine/library.ts';
import type { DeviceGuesses } from '../rate-limits/device-code-guesses.ts';
import { applicationName, xsrfOf } from './engine-forms.ts';

export interface DevicePagesDependencies {
  deviceGuesses: Pick<DeviceGuesses, 'markUnknown'>;
}

/** oidc-provider's `features.deviceFlow` pages. */
export function createDevicePages({ deviceGuesses }: DevicePagesDependencies) {
  return {
    async userCodeInputSource(ctx: KoaContextWithOIDC, _form: string, out?: ErrorOut, err?: Error): Promise<void> {
      if (unavailableIn(err)) throw err;
      if (err?.name === 'AbortedError') {
        appContext(ctx).render('device/done', { isConnected: false });
        return;
      }
      if (err?.name === 'NotFoundError') deviceGuesses.markUnknown(appContext(ctx));
      const page = {
        action: ctx.oidc.urlFor('code_verification'),
        hidden: [{ name: 'xsrf', value: xsrfOf(ctx) }],
        userCode: err && 'userCode' in err && typeof err.userCode === 'string' ? err.userCode : '',
        problem: err || out ? problemOf(err) : undefined,
      };
      appContext(ctx).render('device/enter-code', page, err ? Math.max(ctx.status, 400) : 200);
    },

    async userCodeConfirmSource(
      ctx: KoaContextWithOIDC,
      _form: string,
      _client: unknown,
      deviceInfo: Record<string, unknown>,
      userCode: string,
    ): Promise<void> {
      appContext(ctx).render('device/confirm', {
        action: ctx.oidc.urlFor('code_verification'),
        hidden: [
          { name: 'xsrf', value: xsrfOf(ctx) },
          { name: 'user_code', value: userCode },
        ],
        userCode,
        appName: applicationName(ctx),
        address: deviceInfo.ip,
        browser: deviceInfo.ua,
      });
    },

    async successSource(ctx: KoaContextWithOIDC): Promise<void> {
      appContext(ctx).render('device/done', { isConnected: true, appName: applicationName(ctx) });
    },
  };
}

function problemOf(err: Error | undefined): string {
  switch (err?.name) {
    case 'NoCodeError':
      return 'Enter the code shown on your device.';
    case 'NotFoundError':
      return 'That code is incorrect. Check it and try again.';
    case 'ExpiredError':
      return 'This code has expired. Get a new code on your device.';
    case 'AlreadyUsedError':
      return 'This code was already used. Get a new code on your device.';
    default:
      return 'The code couldn’t be checked. Enter it again.';
  }
}
