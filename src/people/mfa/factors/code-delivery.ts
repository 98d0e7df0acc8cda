// Sends one-time codes by email and SMS: to which addresses of an account, and how often. SMS are limited by account,
// because they cost money, and both are limited by recipient.

import { limits } from '../../../base/limits.ts';
import type { RequestInfo } from '../../../base/platform/request-info.ts';
import type { Core } from '../../../core/core.ts';
import { recipientOf } from '../../../core/mail/messages.ts';
import type { SmsGateway } from '../../../core/sms/gateway.ts';
import type { Account } from '../../accounts/account.ts';
import type { LimitResult, MailLimits, RateLimits } from '../../rate-limits/rate-limits.ts';
import type { OwnFactors } from '../account-factors.ts';
import type { OneTimeCodes } from './one-time-codes.ts';
import type { Phones } from './phone-number.ts';

export type SentBy = 'email' | 'sms';
export type SendOutcome = { outcome: 'sent' | 'failed' } | { outcome: 'wait'; retryAfterSeconds: number };

export type CodeDelivery = ReturnType<typeof createCodeDelivery>;

export interface CodeDeliveryDependencies {
  oneTimeCodes: OneTimeCodes;
  phones: Phones;
  sms: SmsGateway;
  rateLimits: RateLimits;
  mailLimits: MailLimits;
  /** The setting `email_codes`. */
  emailCodes(): boolean;
}

const minutes = limits.oneTimeCode.seconds / 60;

export function createCodeDelivery(dependencies: Core & CodeDeliveryDependencies) {
  const { oneTimeCodes, phones, outbox, sms, rateLimits, mailLimits, audit, repeatedEntries, emailCodes } =
    dependencies;

  async function consumeLimits(account: Account, channel: SentBy, to: string): Promise<LimitResult> {
    const byAccount = channel === 'sms' ? await rateLimits.consume('sms:account', account.id) : undefined;
    if (byAccount && !byAccount.allowed) return byAccount;
    return mailLimits.to(to, 'sign-in-code');
  }

  async function mail(account: Account, to: string, code: string, request: RequestInfo): Promise<'sent' | 'failed'> {
    const recipient = recipientOf(account, request);
    if (!recipient) return 'failed';
    await outbox.send({ kind: 'one-time-code', to: { ...recipient, email: to }, code, minutes });
    return 'sent';
  }

  /** Counts the message, hands it over and audits the result. */
  async function attempt(
    { account, channel, to, request }: { account: Account; channel: SentBy; to: string; request: RequestInfo },
    handOver: () => Promise<'sent' | 'failed'>,
  ): Promise<SendOutcome> {
    const about = { type: 'one-time-code.sent', subjectId: account.id, request, data: { channel } } as const;
    const decision = await consumeLimits(account, channel, to);
    if (!decision.allowed) {
      // The password is enough to cause any number of these.
      await repeatedEntries.record({ ...about, outcome: 'failure', reason: 'too_many_requests' });
      return { outcome: 'wait', retryAfterSeconds: decision.retryAfterSeconds };
    }
    const outcome = await handOver();
    if (outcome === 'sent') await audit.record({ ...about, outcome: 'success' });
    else await repeatedEntries.record({ ...about, outcome: 'failure', reason: 'not_handed_over' });
    return { outcome };
  }

  return {
    /** Whether an SMS gateway is set. */
    hasSms: sms.isSet,

    /** The address and number that codes for this account can be sent to. */
    channels: ({ email, emailVerified }: Account, { phone }: OwnFactors): { [Channel in SentBy]?: string } => ({
      ...(emailCodes() && email && emailVerified && { email }),
      ...(sms.isSet() && phone && { sms: phone }),
    }),

    send: (account: Account, channel: SentBy, to: string, request: RequestInfo): Promise<SendOutcome> =>
      attempt({ account, channel, to, request }, async () => {
        const code = await oneTimeCodes.issue(account.id, channel, to);
        return channel === 'sms' ? sms.sendCode(to, code) : mail(account, to, code, request);
      }),

    /** To a number that the user wants to add; `sealed` goes into the form for its code. */
    async sendToNewNumber(
      account: Account,
      number: string,
      request: RequestInfo,
    ): Promise<SendOutcome & { sealed?: string | undefined }> {
      let sealed: string | undefined;
      const result = await attempt({ account, channel: 'sms', to: number, request }, async () => {
        const enrolment = await phones.begin(account.id, number);
        sealed = enrolment.sealed;
        return sms.sendCode(number, enrolment.code);
      });
      return { ...result, sealed };
    },
  };
}
