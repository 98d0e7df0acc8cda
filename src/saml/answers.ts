// The answer to a service provider: a signed Response in a form that the browser posts to the assertion consumer
// service (SAML Bindings 3.5). Success with an assertion about the person, or a status that says why not.
import type { Account } from '../accounts/account.ts';
import { attributesFor } from '../accounts/claims.ts';
import { seenBy } from '../accounts/view.ts';
import type { Context } from '../http/context.ts';
import type { Clock } from '../platform/clock.ts';
import { randomToken } from '../platform/random.ts';
import { describeAttributes } from './attributes.ts';
import { answerContext } from './authn-context.ts';
import { SamlError, type SamlStatus } from './errors.ts';
import type { Question } from './kept-requests.ts';
import { encodePost } from './logout-messages.ts';
import { type NameId, nameIdFor } from './nameid.ts';
import { nameIdFormats } from './names.ts';
import { statusResponse, successResponse } from './response.ts';
import type { ServiceProvider } from './service-providers.ts';
import type { StoredNameIds } from './stored-name-ids.ts';
import type { Signer } from './xml/sign.ts';

export interface SignedInPerson {
  account: Account;
  acr: string | undefined;
  amr: readonly string[];
  signedInAt: Date;
  sessionEndsAt: Date;
  sessionIndex: string;
  /** What the service provider holds of this person in this session already: a transient identifier lives that long. */
  held: NameId | undefined;
}

export interface AnswersNeeds {
  /** Our entity ID. */
  issuer: string;
  now: Clock;
  signer(): Signer;
  nameIds: StoredNameIds;
}

export interface Answers {
  /** The signed Response about this person, and the identifier in it; SamlError when the question can't be met. */
  success(
    sp: ServiceProvider,
    question: Question,
    person: SignedInPerson,
  ): Promise<{ xml: string; nameId: NameId; contextClass: string }>;
  status(acsUrl: string, requestId: string | undefined, status: SamlStatus): string;
  /** Sends the browser with it. */
  post(ctx: Context, sp: Pick<ServiceProvider, 'name'>, to: Pick<Question, 'acsUrl' | 'relayState'>, xml: string): void;
}

/** IDs are xs:ID: they begin with a letter or underscore. */
export const newMessageId = () => `_${randomToken(20)}`;

export function createAnswers({ issuer, now, signer, nameIds }: AnswersNeeds): Answers {
  async function nameIdOf(sp: ServiceProvider, question: Question, person: SignedInPerson): Promise<NameId> {
    const { account, held } = person;
    const wantsPersistent = question.nameIdFormat === 'persistent';
    const stored = wantsPersistent
      ? await nameIds.persistent(account.id, sp.applicationId, question.mayCreateNameId)
      : undefined;
    if (wantsPersistent && stored === undefined) {
      throw new SamlError('invalid_name_id_policy', { detail: 'AllowCreate is false and there is no identifier yet' });
    }
    return nameIdFor({
      format: question.nameIdFormat,
      identityProvider: issuer,
      serviceProvider: sp.entityId,
      username: account.username,
      verifiedEmail: account.email && account.emailVerified ? account.email : undefined,
      persistent: () => stored ?? '',
      transient: () => (held?.format === nameIdFormats.transient ? held.value : newMessageId()),
    });
  }

  return {
    async success(sp, question, person) {
      const contextClass = answerContext(question.requestedContext, person);
      if (contextClass === undefined)
        throw new SamlError('no_authn_context', { detail: { acr: person.acr, amr: person.amr } });
      if (sp.settings.encrypt_assertion === 'always' && !sp.encryptFor) {
        throw new SamlError('unsupported_request', {
          detail: 'encryption is demanded, but no encryption key is registered',
        });
      }
      const nameId = await nameIdOf(sp, question, person);
      const xml = successResponse(
        {
          id: newMessageId(),
          assertionId: newMessageId(),
          issuer,
          audience: sp.entityId,
          acsUrl: question.acsUrl,
          inResponseTo: question.requestId,
          nameId,
          sessionIndex: person.sessionIndex,
          authnInstant: person.signedInAt,
          sessionNotOnOrAfter: person.sessionEndsAt,
          contextClass,
          attributes: describeAttributes(attributesFor(seenBy(person.account, sp.settings), sp.settings.attributes)),
          sign: sp.settings.sign,
          encryptFor: sp.encryptFor,
          now: now(),
        },
        signer(),
      );
      return { xml, nameId, contextClass };
    },

    status: (acsUrl, requestId, status) =>
      statusResponse({ id: newMessageId(), issuer, acsUrl, inResponseTo: requestId, now: now(), status }, signer()),

    post(ctx, sp, { acsUrl, relayState }, xml) {
      const fields = { SAMLResponse: encodePost(xml), ...(relayState === undefined ? {} : { RelayState: relayState }) };
      ctx.render('form-post', { action: acsUrl, fields, appName: sp.name });
    },
  };
}
