// Single logout that begins here (SAML Profiles 4.4): a LogoutRequest of this server ends the session at a SAML upstream.

import type { Base } from '../../base/base.ts';
import { newMessageId } from '../../protocols/saml/messages/message-id.ts';
import { authenticateMessage, type OpenedMessage } from '../../protocols/saml/messages/open-message.ts';
import { readLogoutResponse } from '../../protocols/saml/messages/read-logout.ts';
import { logoutRequest } from '../../protocols/saml/messages/write-logout.ts';
import { SamlError } from '../../protocols/saml/xml/errors.ts';
import type { SamlConnection } from '../connections/connection.ts';
import type { UpstreamRedirect, UpstreamSessionHandle } from '../upstream.ts';
import type { IdentityProviders } from './identity-provider.ts';
import { asNameId, browserEndpoint, encodeForBinding, expectedFrom, senderKeys } from './logout-messages.ts';
import type { ServiceProvider } from './service-provider.ts';

export type SentLogoutRequests = ReturnType<typeof createSentLogoutRequests>;

export function createSentLogoutRequests(
  dependencies: Base & {
    serviceProvider: ServiceProvider;
    identityProviders: IdentityProviders;
    skewSeconds(): number;
  },
) {
  const { serviceProvider, identityProviders, now } = dependencies;
  return {
    /** The address of its single logout; undefined when the upstream has none. */
    async addressOf(connection: SamlConnection): Promise<string | undefined> {
      const { slo } = await identityProviders.of(connection);
      return browserEndpoint(slo, 'redirect')?.location;
    },

    /**
     * A LogoutRequest of this server, signed, for the session at the upstream; undefined when the upstream has no endpoint for it.
     * Its answer comes to /saml/sp/slo and is read by `isConfirmed`.
     */
    async request(
      connection: SamlConnection,
      { nameId, sessionIndex }: Extract<UpstreamSessionHandle, { kind: 'saml' }>,
      relayState?: string,
    ): Promise<{ messageId: string; redirect: UpstreamRedirect } | undefined> {
      const { slo } = await identityProviders.of(connection);
      const target = browserEndpoint(slo, 'redirect');
      if (!target) return undefined;
      const messageId = newMessageId();
      const message = logoutRequest({
        id: messageId,
        issuer: serviceProvider.entityIdFor(connection),
        destination: target.location,
        now: now(),
        nameId: asNameId(nameId),
        sessionIndexes: sessionIndex === undefined ? [] : [sessionIndex],
        reason: 'user',
      });
      return { messageId, redirect: encodeForBinding(serviceProvider, target, 'SAMLRequest', message, relayState) };
    },

    /** Whether a LogoutResponse confirms that request. Throws SamlError when it is not authentic. */
    async isConfirmed(connection: SamlConnection, opened: OpenedMessage, messageId: string): Promise<boolean> {
      const identityProvider = await identityProviders.of(connection);
      const { entityId } = identityProvider;
      if (opened.claimedIssuer !== entityId) throw new SamlError('wrong_issuer');
      const message = await authenticateMessage(opened, senderKeys(connection, identityProvider));
      return readLogoutResponse(message, { ...expectedFrom(dependencies, entityId), requestId: messageId }).succeeded;
    },
  };
}
