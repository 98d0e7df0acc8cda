// Signed Responses to service providers, with an assertion about the user or with a status, and the form in which the
// browser posts them to the ACS (SAML Bindings 3.5).

import type { Base } from '../../../base/base.ts';
import type { Context } from '../../../base/http/context.ts';
import { limits } from '../../../base/limits.ts';
import type { PageText } from '../../../base/texts/text.ts';
import type { Account } from '../../../people/accounts/account.ts';
import { attributesFor } from '../../../people/accounts/claims.ts';
import { withVisibleRoles } from '../../../people/accounts/visible-roles.ts';
import { describeAttributes } from '../messages/attributes.ts';
import { encodePost, newMessageId } from '../messages/encode.ts';
import { type NameId, type NameIdSource, nameIdFor } from '../messages/name-id.ts';
import { statusResponse, successResponse } from '../messages/signed-response.ts';
import type { ServiceProvider } from '../metadata/service-providers.ts';
import { SamlError, type SamlStatus } from '../xml/errors.ts';
import { nameIdFormats } from '../xml/names.ts';
import type { Signer } from '../xml/sign.ts';
import { authnContextFor } from './authn-context.ts';
import type { PendingAuthnRequest } from './pending-authn-requests.ts';
import { contextText } from './request-checks.ts';
import type { StoredNameIds } from './stored-name-ids.ts';

export interface SignedInUser {
  account: Account;
  acr: string | undefined;
  amr: readonly string[];
  signedInAt: Date;
  sessionNotOnOrAfter: Date | undefined;
  sessionIndex: string;
  /** The NameID that the service provider got earlier in this session: a transient one lasts as long as the session. */
  currentNameId: NameId | undefined;
}

/** Where a Response is posted: the ACS of a pending AuthnRequest, with its RelayState. */
interface PostTarget {
  acsUrl: string;
  relayState: string | undefined;
}

export function createSamlResponses(services: Base & { entityId: string; signer(): Signer; nameIds: StoredNameIds }) {
  const { entityId: issuer, now, signer } = services;
  return {
    /**
     * The signed Response with an assertion about the user, and the NameID and class in it.
     *
     * @throws SamlError when the account or the sign-in does not meet the request
     */
    async success(
      sp: ServiceProvider,
      pending: PendingAuthnRequest,
      user: SignedInUser,
    ): Promise<{ xml: string; nameId: NameId; contextClass: string }> {
      const contextClass = contextClassOf(sp, pending, user);
      const nameId = await nameIdOf(services, sp, pending, user);
      const xml = successResponse(
        {
          id: newMessageId(),
          assertionId: newMessageId(),
          issuer,
          audience: sp.entityId,
          acsUrl: pending.acsUrl,
          inResponseTo: pending.requestId,
          nameId,
          sessionIndex: user.sessionIndex,
          authnInstant: user.signedInAt,
          sessionNotOnOrAfter: user.sessionNotOnOrAfter,
          contextClass,
          attributes: describeAttributes(attributesOf(sp, user.account)),
          sign: sp.settings.sign,
          encryption: sp.encryption,
          now: now(),
        },
        signer(),
      );
      return { xml, nameId, contextClass };
    },

    /** The signed Response with a status and no assertion. */
    status: (acsUrl: string, requestId: string | undefined, status: SamlStatus): string =>
      statusResponse({ id: newMessageId(), issuer, acsUrl, inResponseTo: requestId, now: now(), status }, signer()),

    /** Answers with the form that posts the Response to the ACS. */
    post(ctx: Context, sp: ServiceProvider, { acsUrl, relayState }: PostTarget, xml: string): void {
      ctx.render('form-post', { action: acsUrl, fields: fieldsOf(xml, relayState), appName: sp.title });
    },

    /** Answers with a page that says why the Response has no assertion, and with the form that posts it when the user goes back. */
    explain(
      ctx: Context,
      sp: ServiceProvider,
      { acsUrl, relayState }: PostTarget,
      xml: string,
      about: { reason: PageText; account?: Account | undefined; rejectionCode: string },
    ): void {
      const { requestId } = ctx.state.request;
      const page = { action: acsUrl, message: fieldsOf(xml, relayState), appName: sp.title, requestId, ...about };
      ctx.render('saml/unmet', page, 403);
    },
  };
}

function fieldsOf(xml: string, relayState: string | undefined): Record<string, string> {
  return { SAMLResponse: encodePost(xml), ...(relayState === undefined ? {} : { RelayState: relayState }) };
}

/** The class that the sign-in meets the request with. Throws when there is none, or when the registration cannot be met. */
function contextClassOf(sp: ServiceProvider, pending: PendingAuthnRequest, user: SignedInUser): string {
  const contextClass = authnContextFor(pending.requestedContext, user);
  if (contextClass === undefined)
    throw new SamlError('no_authn_context', {
      detail: { acr: user.acr, amr: user.amr },
      received: user.acr,
      expected: pending.requestedContext && contextText(pending.requestedContext),
    });
  if (cannotEncrypt(sp)) {
    throw new SamlError('unsupported_request', {
      detail: 'encryption is demanded, but no key or algorithm for it is registered',
      expected: 'an encryption certificate in its registration',
    });
  }
  return contextClass;
}

/** The attributes that the service provider receives about the account. */
export function attributesOf({ settings }: ServiceProvider, account: Account): Record<string, string[]> {
  return attributesFor(withVisibleRoles(account, settings, limits.groups.inAssertion), settings.attributes);
}

/** Whether every sign-in fails because nothing may be sent without encryption, for which there is no key or algorithm. */
export const cannotEncrypt = ({ mustEncrypt, encryption }: ServiceProvider): boolean => mustEncrypt && !encryption;

/** What a NameID in this format is made of; `persistent` and `transient` are the values that nothing of the account gives. */
export function nameIdSource(
  sp: ServiceProvider,
  account: Account,
  values: Omit<NameIdSource, 'field' | 'serviceProvider' | 'userId' | 'username' | 'verifiedEmail'>,
): NameIdSource {
  return {
    ...values,
    field: sp.settings.name_id_field,
    serviceProvider: sp.entityId,
    userId: account.id,
    username: account.username,
    verifiedEmail: account.email !== null && account.emailVerified ? account.email : undefined,
  };
}

/** The NameID in the format that the request asks for (SAML Core 3.4.1.1). */
async function nameIdOf(
  { entityId: issuer, nameIds }: { entityId: string; nameIds: StoredNameIds },
  sp: ServiceProvider,
  { nameIdFormat: format, mayCreateNameId }: PendingAuthnRequest,
  { account, currentNameId }: SignedInUser,
): Promise<NameId> {
  const needsStored = format === 'persistent' && sp.settings.name_id_field === undefined;
  return nameIdFor(
    nameIdSource(sp, account, {
      identityProvider: issuer,
      format,
      persistent: needsStored ? await nameIds.persistent(account.id, sp.applicationId, mayCreateNameId) : undefined,
      transient: () => (currentNameId?.format === nameIdFormats.transient ? currentNameId.value : newMessageId()),
    }),
  );
}
