// A sign-in at an upstream that did not succeed: the page for the person, with a code, and under this code for administrators
// the broken rule with what was expected and received.

import { AppError, type ErrorCode } from '../base/http/errors.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { hasText, type PageLink, type PageText, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import { type RuleId, ruleResults } from '../core/rejections/rules.ts';
import type { People } from '../people/people.ts';
import { FederationError } from './faults.ts';

export interface RejectedSignIn {
  /** Undefined where the answer names no connection. */
  connectionId: string | undefined;
  connectionName?: string | undefined;
  /** Where the user can go on. */
  next: PageLink;
  other?: PageLink;
}

export type RejectedSignIns = ReturnType<typeof createRejectedSignIns>;

/** The order in which a message of an upstream is checked. */
export const upstreamRules: readonly RuleId[] = [
  'connection',
  'parameters',
  'base64',
  'size',
  'charset',
  'xml',
  'schema',
  'kind',
  'version',
  'sender',
  'replay',
  'answer',
  'issuer',
  'secret',
  'claim',
  'token_key',
  'token_signature',
  'signed',
  'signing_key',
  'signature_place',
  'signature_form',
  'canonicalization',
  'reference',
  'algorithm',
  'digest_algorithm',
  'certificate',
  'signature',
  'digest',
  'decryption',
  'encryption',
  'destination',
  'in_response_to',
  'status',
  'conditions',
  'audience',
  'confirmation',
  'recipient',
  'statement',
  'nonce',
  'time',
  'subject',
  'userinfo',
  'tenant',
  'fresh',
  'address',
  'account',
];

export function createRejectedSignIns({ rejections, repeatedEntries }: Core & People) {
  const record: (request: RequestInfo, connectionId: string | undefined, error: FederationError) => Promise<string> =
    async (request, connectionId, error) => {
      const { code, reason: message, rule, expected, received, subject, userId } = error;
      const rejectionCode = rejections.record(request, {
        endpoint: 'upstream',
        reason: code,
        message,
        clientId: connectionId,
        ...(userId && { subjectId: userId }),
        received: { ...(connectionId !== undefined && { connection: connectionId }), ...(subject && { subject }) },
        rules: ruleResults(upstreamRules, { rule, expected, received }),
      });
      const data = { ...(connectionId !== undefined && { connection: connectionId }), detail: message };
      const about = { reason: code, request, data, ...(userId && { subjectId: userId }) };
      await repeatedEntries.record({ type: 'sign-in.upstream', outcome: 'failure', ...about });
      return rejectionCode;
    };

  /** Records it, and returns the error whose page the person gets. */
  async function recordForPage(
    request: RequestInfo,
    { connectionId, connectionName, next, other }: RejectedSignIn,
    error: FederationError,
  ): Promise<AppError> {
    const { code, advice, detail } = error;
    const rejectionCode = await record(request, connectionId, error);
    return new AppError(code, {
      message: messageOf(code, connectionName),
      ...(advice && { advice }),
      next,
      ...(other && { other }),
      rejectionCode,
      detail,
      cause: error.cause ?? error,
    });
  }

  return {
    /** Records it, and returns the code under which administrators find it. */
    record,
    recordForPage,

    /** Runs `work`; a FederationError becomes an error page and is recorded. */
    async withErrorPage<T>(
      request: RequestInfo,
      about: () => RejectedSignIn | Promise<RejectedSignIn>,
      work: () => Promise<T>,
    ): Promise<T> {
      try {
        return await work();
      } catch (error) {
        throw error instanceof FederationError ? await recordForPage(request, await about(), error) : error;
      }
    },
  };
}

/** With the name of the identity provider where it is known. */
function messageOf(code: ErrorCode, connection: string | undefined): PageText {
  const key = `error.${code}.named` as const;
  return connection !== undefined && hasText(key) ? t(key, { connection }) : t(`error.${code}`);
}
