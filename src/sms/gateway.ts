// Codes by SMS through whatever sends them (seed 5.6): one JSON request to the address of the setting `sms_gateway`.
// docs/accounts.md describes the request; a provider that wants another one gets a small adapter in between.
import { limits } from '../limits.ts';
import type { Logger } from '../platform/logger.ts';

export interface SmsGateway {
  /** Whether one is set. */
  isSet(): boolean;
  /** Hands a code over; `failed` when the gateway did not take it, which the log explains. */
  sendCode(number: string, code: string): Promise<'sent' | 'failed'>;
}

export interface SmsGatewayNeeds {
  /** The setting. */
  gateway(): { url: string; token?: string | undefined; sender?: string | undefined } | undefined;
  /** The guarded fetch for outgoing calls. */
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  logger: Logger;
  /** The host that people sign in at. */
  host: string;
}

const minutes = limits.oneTimeCode.seconds / 60;

export function createSmsGateway({ gateway, fetch, logger, host }: SmsGatewayNeeds): SmsGateway {
  return {
    isSet: () => gateway() !== undefined,

    async sendCode(number, code) {
      const setting = gateway();
      if (!setting) return 'failed';
      const { url, token, sender } = setting;
      // The last line lets phones offer the code in the right page and in no other (WICG origin-bound one-time codes).
      const text = `${code} is your sign-in code for ${host}. It works for ${minutes} minutes.\n\n@${host} #${code}`;
      try {
        const response = await fetch(url, {
          method: 'POST',
          redirect: 'error',
          headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
          body: JSON.stringify({ to: number, text, ...(sender && { from: sender }) }),
        });
        if (response.ok) return 'sent';
        logger.error({ status: response.status }, 'the SMS gateway did not take a message');
      } catch (err) {
        logger.error({ err }, 'the SMS gateway could not be reached');
      }
      return 'failed';
    },
  };
}
