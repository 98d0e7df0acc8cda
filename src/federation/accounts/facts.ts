// Reads the facts for match.ts: the identity's user, and the account that has the address which the upstream states.

import type { Tx } from '../../base/storage/database.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import { emailFault, nameKey } from '../../people/accounts/names.ts';
import type { Credentials } from '../../people/credentials/credentials.ts';
import type { AccountFactors } from '../../people/mfa/account-factors.ts';
import { isStaff } from '../../people/rbac/built-in.ts';
import { attributesOf, type Connection } from '../connections/connection.ts';
import type { ExternalIdentities } from '../identities.ts';
import type { UpstreamIdentity } from '../upstream.ts';
import { domainOf, type MappedProfile, mapProfile } from './mapping.ts';
import type { Candidate, MatchFacts } from './match.ts';

export interface FactsDependencies {
  accounts: Accounts;
  credentials: Credentials;
  factors: AccountFactors;
  identities: ExternalIdentities;
}

export interface AccountFacts extends MatchFacts {
  profile: MappedProfile;
  identityId: string | undefined;
  known: Account | undefined;
}

/**
 * Reads the facts; inside the transaction that acts on them.
 *
 * @param context `domains`: the proven ones of the connection; `invitedId`: the account of an invitation in this browser
 */
export async function readFacts(
  dependencies: FactsDependencies,
  connection: Connection,
  identity: UpstreamIdentity,
  { domains, invitedId }: { domains: readonly string[]; invitedId?: string | undefined },
  tx: Tx,
): Promise<AccountFacts> {
  const { accounts, identities } = dependencies;
  const profile = profileOf(connection, identity, domains);
  const linked = await identities.find(connection.id, identity.subject, tx);
  const known = linked && (await accounts.find(linked.userId, tx));
  const { settings } = connection;
  const facts = {
    profile,
    identityId: linked?.id,
    known,
    isEmailTrusted: profile.isEmailTrusted,
    isInProvenDomain: profile.email !== undefined && domains.includes(domainOf(profile.email)),
    createUsers: settings.create_users,
    linkOnly: settings.link_only,
    link: settings.link,
  };
  // The first rule applies: the others are not read.
  if (known) return { ...facts, invited: undefined, holder: undefined };
  const holder = profile.email === undefined ? undefined : await accounts.findByLogin(profile.email, tx);
  const invited = invitedId === undefined ? undefined : await accounts.find(invitedId, tx);
  return {
    ...facts,
    // Another person's invitation, planted in this browser, has another address.
    invited: invited && isAddressOf(invited, profile.email) ? invited : undefined,
    holder:
      holder && (await candidateOf(dependencies, holder, { stated: profile.email, connectionId: connection.id }, tx)),
  };
}

/** What the account page lists of an identity. */
export function labelOf({ email, username, name }: MappedProfile, subject: string): string {
  return email ?? username ?? name ?? subject;
}

function isAddressOf(account: Account, email: string | undefined): boolean {
  return account.email !== null && email !== undefined && nameKey(account.email) === nameKey(email);
}

/** The case of an address does not count, look-alike letters do. */
function isSame(email: string | null, stated: string | undefined): boolean {
  const plain = (address: string) => address.normalize('NFKC').trim().toLowerCase();
  return email !== null && stated !== undefined && plain(email) === plain(stated);
}

function profileOf(connection: Connection, { claims }: UpstreamIdentity, domains: readonly string[]): MappedProfile {
  const rules = {
    attributes: attributesOf(connection),
    trusted_email: connection.settings.trusted_email,
    marksVerified: connection.kind === 'oidc' || connection.kind === 'oauth2',
  };
  const profile = mapProfile(claims, rules, domains);
  if (profile.email === undefined || emailFault(profile.email) === undefined) return profile;
  return { ...profile, email: undefined, isEmailTrusted: false };
}

async function candidateOf(
  { credentials, factors, identities }: FactsDependencies,
  account: Account,
  { stated, connectionId }: { stated: string | undefined; connectionId: string },
  tx: Tx,
): Promise<Candidate> {
  const linked = await identities.ofUser(account.id, tx);
  const { passkeys } = await factors.of(account.id, tx);
  const hasPassword = (await credentials.status(account.id, tx)) !== undefined;
  return {
    id: account.id,
    isActive: account.isActive,
    emailVerified: account.emailVerified,
    matches: isSame(account.email, stated) ? 'address' : isAddressOf(account, stated) ? 'look-alike' : 'username',
    hasOwnCredential: passkeys > 0 || hasPassword || linked.length > 0,
    isStaff: isStaff(account),
    isOfOtherSubject: linked.some((one) => one.connectionId === connectionId),
  };
}
