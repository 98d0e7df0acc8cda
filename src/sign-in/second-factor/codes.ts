// Checks a code as second factor: from an authenticator app, a message, or the list of recovery codes. Tries are
// limited per account over all instances, and counted before the code is checked.

import type { RequestInfo } from '../../base/platform/request-info.ts';
import { traced } from '../../base/platform/tracing.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { SecondFactor } from '../../people/mfa/policy.ts';
import type { People } from '../../people/people.ts';

const AMR = { totp: 'otp', email: 'email', sms: 'sms', 'recovery-code': 'recovery' } as const;

export type CodeMethod = Exclude<SecondFactor, 'passkey'>;
export type CodeResult =
  | { outcome: 'ok'; amr: string }
  | { outcome: 'wrong' | 'expired' }
  | { outcome: 'wait'; retryAfterSeconds: number };

export type SecondFactorCodes = ReturnType<typeof createSecondFactorCodes>;

export function createSecondFactorCodes(
  dependencies: Core &
    People & {
      /** For the metrics. */
      countAttempt(outcome: 'success' | 'failure' | 'throttled', method: CodeMethod): void;
    },
) {
  const {
    rateLimits,
    audit,
    repeatedEntries,
    countAttempt,
    mfa: { totp, recoveryCodes, oneTimeCodes },
  } = dependencies;

  async function check(userId: string, method: CodeMethod, sentTo: string, code: string, request: RequestInfo) {
    switch (method) {
      case 'totp':
        return totp.verify(userId, code);
      case 'recovery-code':
        return recoveryCodes.redeem(userId, code, { actorId: userId, request });
      default:
        return oneTimeCodes.verify(userId, method, sentTo, code);
    }
  }

  const verify: (
    account: Account,
    method: CodeMethod,
    sentTo: string,
    code: string,
    request: RequestInfo,
  ) => Promise<CodeResult> = async (account, method, sentTo, code, request) => {
    const verdict = await rateLimits.consume('code:account', account.id);
    if (!verdict.allowed) {
      countAttempt('throttled', method);
      await repeatedEntries.record({
        type: 'sign-in.throttled',
        outcome: 'failure',
        reason: 'too_many_codes',
        subjectId: account.id,
        request,
      });
      return { outcome: 'wait', retryAfterSeconds: verdict.retryAfterSeconds };
    }
    const result = await check(account.id, method, sentTo, code, request);
    const isRight = result === 'ok';
    countAttempt(isRight ? 'success' : 'failure', method);
    await audit.record({
      type: 'sign-in.second-factor',
      outcome: isRight ? 'success' : 'failure',
      subjectId: account.id,
      request,
      data: { method },
      ...(isRight ? { actorId: account.id } : { reason: result }),
    });
    if (!isRight) return { outcome: result === 'expired' || result === 'too-many-tries' ? 'expired' : 'wrong' };
    await rateLimits.reset('code:account', account.id);
    return { outcome: 'ok', amr: AMR[method] };
  };

  return {
    /** @param sentTo the address or number that the code was sent to; empty for other methods */
    verify: traced('sign-in second factor', verify, ({ outcome }) => ({ 'gatehouse.outcome': outcome })),
  };
}
