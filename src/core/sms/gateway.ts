// Sends codes by SMS with one JSON request to the URL of the setting `sms_gateway` (docs/accounts.md). A provider that
// expects another request needs an adapter.
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { plural } from '../../base/platform/plural.ts';

export type SmsGateway = ReturnType<typeof createSmsGateway>;

const minutes = limits.oneTimeCode.seconds / 60;

export function createSmsGateway({
  gateway,
  fetch,
  logger,
  host,
}: Base & {
  /** The setting. */
  gateway(): { url: string; token?: string | undefined; sender?: string | undefined } | undefined;
  /** The guarded fetch for outgoing calls. */
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** The host of the sign-in page. */
  host: string;
}) {
  return {
    /** Whether the setting has a gateway. */
    isSet: (): boolean => gateway() !== undefined,

    /** `failed` when the gateway rejected the code or could not be reached; the log has the reason. */
    async sendCode(number: string, code: string): Promise<'sent' | 'failed'> {
      const setting = gateway();
      if (!setting) return 'failed';
      const { url, token, sender } = setting;
      // The last line lets phones fill in the code on this host only (WICG, origin-bound one-time codes).
      const text = `${code} is your sign-in code for ${host}. Valid for ${plural(minutes, 'minute')}.\n\n@${host} #${code}`;
      try {
        const response = await fetch(url, {
          method: 'POST',
          redirect: 'error',
          headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
          body: JSON.stringify({ to: number, text, ...(sender && { from: sender }) }),
        });
        if (response.ok) return 'sent';
        logger.error({ status: response.status }, 'the SMS gateway rejected a message');
      } catch (err) {
        logger.error({ err }, 'the SMS gateway could not be reached');
      }
      return 'failed';
    },
  };
}
