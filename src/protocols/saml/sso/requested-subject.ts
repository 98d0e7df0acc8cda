// The Subject of an AuthnRequest (SAML Core 3.4.1): the assertion is about this user or none. It proves nothing, and the user still
// signs in; what it names is compared with the account that did.

import type { Account } from '../../../people/accounts/account.ts';
import type { People } from '../../../people/people.ts';
import type { NameId } from '../messages/name-id.ts';
import type { ServiceProvider } from '../metadata/service-providers.ts';
import type { SessionParticipants } from '../slo/session-participants.ts';
import { nameIdFormatOf } from '../xml/names.ts';
import type { StoredNameIds } from './stored-name-ids.ts';

/** Longest username or address that the sign-in page takes. */
const MAX_LOGIN = 254;

export function createRequestedSubjects(
  services: People & { entityId: string; nameIds: StoredNameIds; sessionParticipants: SessionParticipants },
) {
  const { entityId: issuer, accounts, nameIds, sessionParticipants } = services;

  const isStored = async ({ value }: NameId, sp: ServiceProvider, account: Account) =>
    (await nameIds.persistent(account.id, sp.applicationId, false)) === value ||
    fieldValue(sp.settings.name_id_field, account) === value;
  const isVerifiedAddress = ({ value }: NameId, { email, emailVerified }: Account) =>
    emailVerified && email !== null && email.toLowerCase() === value.toLowerCase();

  return {
    /** Whether the Subject of a request of this service provider names the account. */
    async isNamed(subject: NameId, sp: ServiceProvider, account: Account): Promise<boolean> {
      const isOurs =
        (subject.nameQualifier ?? issuer) === issuer && (subject.spNameQualifier ?? sp.entityId) === sp.entityId;
      if (!isOurs) return false;
      switch (formatOf(subject)) {
        case 'persistent':
          return isStored(subject, sp, account);
        case 'emailAddress':
          return isVerifiedAddress(subject, account);
        case 'transient':
          return (await sessionParticipants.find(sp.applicationId, subject.value)).some(
            ({ userId }) => userId === account.id,
          );
        case 'unspecified':
          // Either what this service provider received earlier, or what the user types.
          return (
            account.id === subject.value ||
            isVerifiedAddress(subject, account) ||
            (!subject.value.includes('@') && (await accounts.findByLogin(subject.value))?.id === account.id) ||
            account.username === subject.value ||
            isStored(subject, sp, account)
          );
        case undefined:
          return false;
      }
    },

    /**
     * What to fill in on the sign-in page: a value that the user would type, or the username behind a persistent NameID, which only a
     * proven sender learns from.
     */
    async loginHint(subject: NameId, sp: ServiceProvider, isSigned: boolean): Promise<string | undefined> {
      const format = formatOf(subject);
      if (format === 'transient' || format === undefined) return undefined;
      if (format === 'emailAddress') return typed(subject);
      const owner = await nameIds.ownerOf(sp.applicationId, subject.value);
      if (owner === undefined) return format === 'unspecified' ? typed(subject) : undefined;
      return isSigned ? (await accounts.find(owner))?.username : undefined;
    },
  };
}

/** An absent format is unspecified (Core 2.2.2). */
export function formatOf({ format }: NameId) {
  return format === '' ? 'unspecified' : nameIdFormatOf(format);
}

function typed({ value }: NameId): string | undefined {
  return value.length <= MAX_LOGIN ? value : undefined;
}

function fieldValue(field: ServiceProvider['settings']['name_id_field'], account: Account): string | undefined {
  if (field === 'email') return account.email !== null && account.emailVerified ? account.email : undefined;
  return field && { sub: account.id, username: account.username }[field];
}
