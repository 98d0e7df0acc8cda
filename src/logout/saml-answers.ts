// LogoutResponses of service providers (SAML Core 3.7.2): each belongs to the one LogoutRequest that it names, is signed
// by the service provider that was asked, and counts once. What is wrong with it is that application's outcome.
import type { Clock } from '../platform/clock.ts';
import { SamlError } from '../saml/errors.ts';
import { authenticateMessage, type OpenedMessage } from '../saml/inbound.ts';
import type { KeptRequests } from '../saml/kept-requests.ts';
import type { ServiceProviders } from '../saml/service-providers.ts';
import { readLogoutResponse } from '../saml/slo.ts';
import type { Participant } from './run.ts';
import type { Runs } from './runs.ts';
import type { SamlLogoutAnswers } from './saml-routes.ts';

export interface SamlAnswersNeeds {
  /** Public base URL. */
  base: string;
  now: Clock;
  skewSeconds(): number;
  serviceProviders: Pick<ServiceProviders, 'find'>;
  keptRequests: Pick<KeptRequests, 'isNew'>;
  runs: Pick<Runs, 'awaiting' | 'settle' | 'fail'>;
}

const MAX_ID = 256;

export function createSamlAnswers(needs: SamlAnswersNeeds): SamlLogoutAnswers {
  const { base, now, skewSeconds, serviceProviders, keptRequests, runs } = needs;

  async function judge(opened: OpenedMessage, participant: Participant, requestId: string): Promise<boolean> {
    const sp = await serviceProviders.find(participant.clientId);
    if (!sp || opened.claimedIssuer !== sp.entityId) throw new SamlError('wrong_issuer');
    const message = authenticateMessage(opened, { ...sp, requireSigned: true });
    const response = readLogoutResponse(message, {
      entityId: sp.entityId,
      endpoint: `${base}/saml/slo`,
      now: now(),
      skewSeconds: skewSeconds(),
      requestId,
    });
    if (!(await keptRequests.isNew(sp.entityId, response.id))) throw new SamlError('replayed');
    return response.succeeded;
  }

  async function waitsFor(messageId: string): Promise<Participant | undefined> {
    return messageId !== '' && messageId.length <= MAX_ID ? runs.awaiting(messageId) : undefined;
  }

  return {
    async take(opened, inResponseTo) {
      const participant = await waitsFor(inResponseTo);
      if (!participant) throw new SamlError('unexpected_response', { detail: inResponseTo.slice(0, MAX_ID) });
      try {
        if (await judge(opened, participant, inResponseTo)) await runs.settle(participant, { state: 'done' });
        else await runs.fail(participant, 'refused');
      } catch (error) {
        if (!(error instanceof SamlError)) throw error;
        await runs.fail(participant, `invalid_answer: ${error.code}`);
      }
      return participant.runId;
    },

    async takeUnreadable(relayState, reason) {
      const participant = await waitsFor(relayState);
      if (!participant) return undefined;
      await runs.fail(participant, `invalid_answer: ${reason}`);
      return participant.runId;
    },
  };
}
