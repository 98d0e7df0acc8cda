// The engine's pages of the device flow (RFC 8628 3.3): enter the code, confirm the device, result.

import { unavailableIn } from '../../../base/storage/unavailable.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import { appContext } from '../engine/app-context.ts';
import type { ErrorOut, KoaContextWithOIDC } from '../engine/library.ts';
import type { DeviceGuesses } from '../rate-limits/device-code-guesses.ts';
import { applicationName, xsrfOf } from './engine-forms.ts';

/** oidc-provider's `features.deviceFlow` pages. */
export function createDevicePages({ deviceGuesses }: { deviceGuesses: DeviceGuesses }) {
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

function problemOf(err: Error | undefined): PageText {
  switch (err?.name) {
    case 'NoCodeError':
      return t('device.enter-code');
    case 'NotFoundError':
      return t('phone.wrong-code');
    case 'ExpiredError':
      return t('device.expired');
    case 'AlreadyUsedError':
      return t('device.used');
    default:
      return t('device.failed');
  }
}
