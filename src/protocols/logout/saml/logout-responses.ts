// LogoutResponses of service providers (SAML Core 3.7.2): each answers one LogoutRequest of this server, is signed by its
// recipient and counts once. An invalid one is stored as the failure of that application.
import type { Base } from '../../../base/base.ts';
import { runInChildSpan } from '../../../base/platform/tracing.ts';
import { authenticateMessage, type OpenedMessage } from '../../saml/messages/open-message.ts';
import { readLogoutResponse } from '../../saml/messages/read-logout.ts';
import type { SeenMessages } from '../../saml/messages/seen-messages.ts';
import type { ServiceProviders } from '../../saml/metadata/service-providers.ts';
import { SamlError } from '../../saml/xml/errors.ts';
import type { Participant } from '../logout-run.ts';
import type { LogoutRunStore } from '../logout-run-store.ts';

export type LogoutResponses = ReturnType<typeof createLogoutResponses>;

const MAX_ID = 256;

export function createLogoutResponses(
  dependencies: Base & {
    skewSeconds(): number;
    serviceProviders: ServiceProviders;
    seenMessages: SeenMessages;
    runs: LogoutRunStore;
  },
) {
  const {
    now,
    skewSeconds,
    serviceProviders,
    seenMessages,
    runs,
    config: { issuer: base },
  } = dependencies;

  async function succeeded(opened: OpenedMessage, participant: Participant, requestId: string): Promise<boolean> {
    const sp = await serviceProviders.find(participant.clientId);
    if (!sp || opened.claimedIssuer !== sp.entityId) throw new SamlError('wrong_issuer');
    const message = await authenticateMessage(opened, { ...sp, requireSigned: true });
    const response = readLogoutResponse(message, {
      entityId: sp.entityId,
      endpoint: `${base}/saml/slo`,
      now: now(),
      skewSeconds: skewSeconds(),
      requestId,
    });
    if (!(await seenMessages.isNew(sp.entityId, response.id))) throw new SamlError('replayed');
    return response.succeeded;
  }

  async function recipientOf(messageId: string): Promise<Participant | undefined> {
    return messageId !== '' && messageId.length <= MAX_ID ? runs.findByMessageId(messageId) : undefined;
  }

  return {
    /** The ID of the logout run to continue. Throws SamlError when this response is not expected. */
    async accept(opened: OpenedMessage, inResponseTo: string): Promise<string> {
      const participant = await recipientOf(inResponseTo);
      if (!participant) throw new SamlError('unexpected_response', { detail: inResponseTo.slice(0, MAX_ID) });
      try {
        const attributes = { 'gatehouse.client_id': participant.clientId };
        if (
          await runInChildSpan('saml LogoutResponse', { attributes }, () =>
            succeeded(opened, participant, inResponseTo),
          )
        )
          await runs.settle(participant, { state: 'done' });
        else await runs.browserFailed(participant, 'rejected');
      } catch (error) {
        if (!(error instanceof SamlError)) throw error;
        await runs.browserFailed(participant, `invalid_answer: ${error.code}`);
      }
      return participant.runId;
    },

    /** The same for a response that cannot be read: its RelayState is the ID of the LogoutRequest. */
    async acceptUnreadable(relayState: string, reason: string): Promise<string | undefined> {
      const participant = await recipientOf(relayState);
      if (!participant) return undefined;
      await runs.browserFailed(participant, `invalid_answer: ${reason}`);
      return participant.runId;
    },
  };
}
