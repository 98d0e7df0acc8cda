// Signs a verified identity in to an account: finds it by resolve.ts, creates or links it, and lets profile and roles follow the
// upstream. Everything happens in one transaction.

import { AppError } from '../../base/http/errors.ts';
import { domainOf } from '../../base/network/domains.ts';
import { defined } from '../../base/platform/defined.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { formatPath } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { placeOf } from '../../core/mail/wording.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import { emailFault, isSameAddress, nameKey } from '../../people/accounts/names.ts';
import { type Profile, profileColumns } from '../../people/accounts/profile.ts';
import { mappedFields } from '../../people/accounts/profile-fields.ts';
import type { People } from '../../people/people.ts';
import { isStaff } from '../../people/rbac/built-in.ts';
import type { SessionServices } from '../../protocols/logout/session-services.ts';
import { attributesOf, type Connection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { giveMapped, type Mappings, mapped } from '../connections/role-mappings.ts';
import { FederationError } from '../faults.ts';
import type { ExternalIdentities, ExternalIdentity } from '../identities.ts';
import type { UpstreamIdentity } from '../upstream.ts';
import { type MappedProfile, mapProfile } from './mapping.ts';

export type Resolution =
  | { outcome: 'signed-in'; account: Account }
  /** The user has to prove this account here; then `link` finishes. */
  | { outcome: 'prove'; accountId: string };

export type Resolver = ReturnType<typeof createResolver>;

export interface ResolveContext {
  request: RequestInfo;
  /** The account of an invitation that is open in this browser. */
  invitedId?: string | undefined;
  /** Only this account: a stronger sign-in of its user. */
  userId?: string | undefined;
}

export interface Preview {
  match: Match;
  facts: AccountFacts;
  account: Account | undefined;
  /** Names of the roles that the groups give. */
  roles: string[];
  /** Names of the groups here that the groups are. */
  joins: string[];
  hasAllGroups: boolean;
}

export function createResolver(
  dependencies: Core &
    People &
    SessionServices & {
      connections: Connections;
      /** Mails a link to an address that the upstream does not prove; a click makes it the account's. */
      confirmAddress(account: Account, email: string, request: RequestInfo): Promise<void>;
      identities: ExternalIdentities;
    },
) {
  const { db, accounts, connections, notifyOwner } = dependencies;

  // From the cache where no transaction is open: in one, a read beside it would wait for a second connection to the database.
  async function rulesOf({ id }: Connection, tx?: Tx): Promise<ConnectionRules> {
    return { domains: await connections.provenDomains(id, tx), ...(await connections.mappings(id, tx)) };
  }

  return {
    async resolve(connection: Connection, identity: UpstreamIdentity, context: ResolveContext): Promise<Resolution> {
      const rules = await rulesOf(connection);
      const attempt = () => findOrCreate(dependencies, { connection, identity, rules }, context);
      // The same user may sign in for the first time in two browsers at once: the second attempt finds what the other one stored.
      const done = await attempt().catch((error) => {
        if (isTakenMeanwhile(error)) return attempt();
        throw error;
      });
      if (done.outcome === 'prove') return done;
      const { account, isLinked, unconfirmed } = done;
      if (isLinked) await notifyOwner(account, 'identity-linked', context.request);
      if (unconfirmed) await dependencies.confirmAddress(account, unconfirmed, context.request);
      return { outcome: 'signed-in', account };
    },

    /**
     * Links the identity to an account whose user has proven it. Throws identity_taken (409). Returns what the caller does after the
     * transaction: the notice to the owner.
     */
    async link(
      connection: Connection,
      identity: UpstreamIdentity,
      account: Account,
      by: Actor,
      tx: Tx,
    ): Promise<() => Promise<void>> {
      const rules = await rulesOf(connection, tx);
      const facts = await readFacts(dependencies, connection, identity, rules, tx);
      const isNew = facts.known?.id !== account.id;
      if (facts.linked && isNew) throw identityTaken(facts);
      if (isNew) await addIdentity(dependencies, { connection, identity, rules, facts }, account, by, tx);
      await setRoles(dependencies, { connection, identity, rules }, account.id, by, tx);
      return async () => {
        if (isNew) await notifyOwner(account, 'identity-linked', by.request);
      };
    },

    /** What `resolve` would do; writes nothing. */
    async preview(connection: Connection, identity: UpstreamIdentity): Promise<Preview> {
      const { domains, roleMappings, groupMappings } = await rulesOf(connection);
      const facts = await readFacts(dependencies, connection, identity, { domains }, db);
      const match = matchAccount(facts);
      const id = 'userId' in match ? match.userId : undefined;
      const { names, isComplete } = groupsOf(identity);
      return {
        match,
        facts,
        account: id === undefined ? undefined : await accounts.find(id),
        roles: [...mapped(names, roleMappings).values()],
        joins: [...mapped(names, groupMappings).values()].sort(),
        hasAllGroups: isComplete,
      };
    },
  };
}

/** What is declared beside the connection. */
interface ConnectionRules extends Mappings {
  domains: readonly string[];
}

/** An identity that its upstream has proven. */
interface Proven {
  connection: Connection;
  identity: UpstreamIdentity;
  rules: ConnectionRules;
}

/** A sign-in with the account that it found, or is to create. */
interface Case extends Proven {
  facts: AccountFacts;
  match: Exclude<Match, { outcome: 'rejected' | 'prove' }>;
  by: Actor;
}

interface Applied {
  outcome: 'signed-in';
  account: Account;
  isLinked: boolean;
  /** An address to be confirmed by mail. */
  unconfirmed: string | undefined;
}

async function apply(
  dependencies: Core & People & SessionServices & { identities: ExternalIdentities },
  found: Case,
  tx: Tx,
): Promise<Applied> {
  const { accounts, identities, audit, endSession } = dependencies;
  const { connection, identity, facts, match } = found;
  const { profile } = facts;
  const account = await accountOf(dependencies, found, tx);
  const by = { ...found.by, actorId: account.id };
  if (facts.linked && match.outcome === 'known')
    await identities.used(facts.linked, labelOf(profile, identity.subject), tx);
  else await addIdentity(dependencies, found, account, by, tx);
  // Linked by its address alone: a session from before may be of the manager who made the account.
  if (match.outcome === 'link') await endSession.all(account.id, 'identity-linked', by, tx);
  const haveRolesChanged = await setRoles(dependencies, found, account.id, by, tx);
  const data = { connection: connection.id, match: match.outcome, ...('rule' in match && { rule: match.rule }) };
  await audit.record({ ...by, type: 'sign-in.upstream', outcome: 'success', subjectId: account.id, data }, tx);
  const isNew = match.outcome === 'create';
  return {
    outcome: 'signed-in',
    account: (haveRolesChanged ? await accounts.find(account.id, tx) : undefined) ?? account,
    isLinked: match.outcome === 'link',
    unconfirmed: isNew && !facts.isEmailTrusted ? profile.email : undefined,
  };
}

/** A new account, or the one that was found, with what the upstream says of it. */
async function accountOf(dependencies: Core & People, found: Case, tx: Tx): Promise<Account> {
  const { connection, facts, match, by } = found;
  if (match.outcome === 'create') return createFor(dependencies, found, match.takesAddressFrom, tx);
  const isRead = facts.known?.id === match.userId;
  const account = isRead ? facts.known : await dependencies.accounts.find(match.userId, tx);
  if (!account) throw rejected('account_inactive', connection, facts);
  return connection.settings.update_profile ? updateProfile(dependencies, account, facts.profile, { by, tx }) : account;
}

function addIdentity(
  { identities }: { identities: ExternalIdentities },
  { connection, identity, facts }: Proven & { facts: AccountFacts },
  account: Account,
  by: Actor,
  tx: Tx,
): Promise<void> {
  const { subject } = identity;
  const label = labelOf(facts.profile, subject);
  return identities.link({ connectionId: connection.id, subject, userId: account.id, label }, by, tx);
}

/** A new account with a name that no other has. An address that the upstream does not prove is confirmed by mail first. */
async function createFor(
  { accounts }: People,
  { identity, facts, by }: Case,
  takesAddressFrom: string | undefined,
  tx: Tx,
): Promise<Account> {
  const { profile } = facts;
  const freeName = (from: MappedProfile) =>
    freeUserName(from, async (name) => (await accounts.findByLogin(name, tx)) !== undefined);
  if (takesAddressFrom !== undefined) {
    const old = await accounts.find(takesAddressFrom, tx);
    const hadAddressAsName = old?.email != null && nameKey(old.username) === nameKey(old.email);
    await accounts.update(
      takesAddressFrom,
      { email: null, emailVerified: false, ...(hadAddressAsName && { username: await freeName(profile) }) },
      by,
      tx,
    );
  }
  const fields = acceptableFields(profile, {});
  const address =
    profile.isEmailTrusted && profile.email ? { email: profile.email, emailVerified: true, emailProven: true } : {};
  const account = { ...fields, ...address, username: await freeName(profile), ssoId: identity.subject };
  try {
    return await accounts.create(account, by, tx);
  } catch (error) {
    // The schema of the settings rejects an attribute.
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    return accounts.create({ ...account, attributes: {} }, by, tx);
  }
}

async function findOrCreate(
  dependencies: Core & People & SessionServices & { identities: ExternalIdentities },
  { connection, identity, rules }: Proven,
  context: ResolveContext,
) {
  return transaction(dependencies.db, async (tx) => {
    const facts = await readFacts(dependencies, connection, identity, { ...context, ...rules }, tx);
    assertUser(context.userId, connection, facts);
    const match = matchAccount(facts);
    if (match.outcome === 'rejected') {
      const { fault } = match;
      if (fault === 'address_in_use') throw addressInUse(connection, identity.subject, facts);
      throw rejected(fault, connection, facts);
    }
    if (match.outcome === 'prove') return { outcome: 'prove', accountId: match.userId } as const;
    return apply(dependencies, { connection, identity, facts, match, rules, by: { request: context.request } }, tx);
  });
}

/** Without a list of groups the connection gives no roles; an incomplete list changes none. */
function groupsOf({ groups }: UpstreamIdentity): { names: string[]; isComplete: boolean } {
  return groups ?? { names: [], isComplete: true };
}

/** Whether a role was given or taken away, or a group joined or left. */
async function setRoles(
  people: People,
  { connection, identity, rules }: Proven,
  userId: string,
  by: Actor,
  tx: Tx,
): Promise<boolean> {
  const { names, isComplete } = groupsOf(identity);
  return isComplete && giveMapped(people, { connectionId: connection.id, userId }, names, rules, by, tx);
}

const MAX_LENGTH = 40;
const ATTEMPTS = 20;

/** Names to try in order; `suffix` makes the later ones unlikely to be taken. */
function* userNames(
  { username, email, name }: { username?: string | undefined; email?: string | undefined; name?: string | undefined },
  suffix: () => string,
): Generator<string> {
  const base = [username, email, name].map(usernameCharacters).find((one) => one !== '') ?? 'user';
  yield base;
  for (let attempt = 2; attempt <= ATTEMPTS; attempt += 1) yield `${base}-${attempt}`;
  for (;;) yield `${base}-${suffix()}`;
}

/** The first of these names that is not taken. */
async function freeUserName(
  profile: Parameters<typeof userNames>[0],
  isTaken: (name: string) => Promise<boolean>,
): Promise<string> {
  const suffix = () =>
    randomToken(4)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '');
  for (const name of userNames(profile, suffix)) if (!(await isTaken(name))) return name;
  throw new Error('there is no free username');
}

/** Lower-case letters, digits and . _ - of the part before an @. */
function usernameCharacters(text: string | undefined): string {
  return (text ?? '')
    .split('@', 1)
    .join('')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\s/\\]+/g, '.')
    .replace(/[^a-z0-9._-]/g, '')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, MAX_LENGTH);
}

/** Whether another sign-in stored the identity, or took the name or address, after this one had read that it is free. */
function isTakenMeanwhile(error: unknown): boolean {
  return error instanceof AppError && ['identity_taken', 'user_name_taken', 'email_taken'].includes(error.code);
}

/** The identity was linked to another account. */
function identityTaken({ profile }: AccountFacts): FederationError {
  return new FederationError('identity_taken', {
    rule: 'account',
    reason: 'This identity is connected to another account.',
    expected: 'an identity that no other account has',
    received: profile.email ?? profile.username ?? 'no address',
  });
}

/** A stronger sign-in is that of the same user; it neither links nor creates an account. */
function assertUser(userId: string | undefined, { id }: Connection, { known, profile }: AccountFacts): void {
  if (userId === undefined || known?.id === userId) return;
  throw new FederationError('upstream_other_user', {
    rule: 'account',
    reason: 'The identity belongs to a different user than the session.',
    expected: `an identity of the signed-in user at ${id}`,
    received: profile.email ?? profile.username ?? 'no address',
  });
}

/** The address is that of an account with another subject of the same connection. */
function addressInUse({ id }: Connection, subject: string, { holder, profile }: AccountFacts): FederationError {
  return new FederationError('address_in_use', {
    rule: 'address',
    reason: 'The email address belongs to an account that another user of this connection has.',
    expected: 'an address that no other user of the connection has',
    received: `${profile.email ?? 'no address'}, of ${subject} at ${id}`,
    subject,
    userId: holder?.id,
  });
}

/** No account, or one that cannot be used now. */
function rejected(
  fault: 'account_inactive' | 'not_invited',
  { settings }: Connection,
  { profile, known, invited, holder }: AccountFacts,
): FederationError {
  const received = `${profile.email ?? profile.username ?? 'no address'}${settings.link_only ? ' (link_only)' : ''}`;
  if (fault === 'not_invited')
    return new FederationError(fault, {
      rule: 'account',
      reason: 'The user has no account, and the connection doesn’t create accounts.',
      expected: 'an account, or create_users: true',
      received,
    });
  return new FederationError(fault, {
    rule: 'account',
    userId: [known, invited, holder].find((one) => one?.isActive === false)?.id,
    reason: 'The user’s account is disabled, has ended or hasn’t begun.',
    expected: 'an active account',
    received,
  });
}

interface AccountFacts extends MatchFacts {
  profile: MappedProfile;
  linked: ExternalIdentity | undefined;
  known: Account | undefined;
}

/**
 * Reads the facts; inside the transaction that acts on them.
 *
 * @param context `domains`: the proven ones of the connection; `invitedId`: the account of an invitation in this browser
 */
async function readFacts(
  dependencies: People & { identities: ExternalIdentities },
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
    linked,
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
  // The same user may have signed in for the first time in another browser since the identity was looked up.
  if (holder && !linked && (await identities.find(connection.id, identity.subject, tx)))
    return readFacts(dependencies, connection, identity, { domains, invitedId }, tx);
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
function labelOf({ email, username, name }: MappedProfile, subject: string): string {
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

function matchOf(account: Account, stated: string | undefined): Candidate['matches'] {
  if (isSame(account.email, stated)) return 'address';
  return isAddressOf(account, stated) ? 'look-alike' : 'username';
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
  { accounts, credentials, identities, mfa: { factors } }: People & { identities: ExternalIdentities },
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
    matches: matchOf(account, stated),
    hasOwnCredential: passkeys > 0 || hasPassword || linked.length > 0,
    keepsAddress:
      isStaff(account) || (await accounts.directoriesOf([account.id], tx)).get(account.id)?.deletedAt === null,
    isStaff: isStaff(account),
    isOfOtherSubject: linked.some((one) => one.connectionId === connectionId),
  };
}

// Updates the profile of an account from its upstream at each sign-in. Values that an account cannot have are ignored. An email
// address is adopted only if that gives no account to the wrong person.

type ProfileFields = Omit<Profile, 'username' | 'email' | 'emailVerified' | 'emailProven' | 'ssoId'>;

/** The mapped fields that an account can have; `attributes` are added to the existing ones. */
export function acceptableFields(profile: MappedProfile, present: Record<string, unknown>): ProfileFields {
  const { attributes } = profile;
  const all = [...mappedFields, 'phoneNumber' as const].map((field) => [field, profile[field]] as const);
  const suppliedFields: ProfileFields = defined(Object.fromEntries(all));
  if (Object.keys(attributes).length > 0) suppliedFields.attributes = { ...present, ...attributes };
  const wrong = faultsOf(() => profileColumns({ username: 'any', ...suppliedFields }));
  return Object.fromEntries(Object.entries(suppliedFields).filter(([field]) => !wrong.includes(field)));
}

/**
 * Updates the account; without the attributes when the schema of the settings rejects them. A new address can reset the password,
 * so the old one gets a mail about it, and the change has its own audit entry.
 */
async function updateProfile(
  dependencies: Core & People,
  account: Account,
  profile: MappedProfile,
  { by, tx }: { by: Actor; tx: Tx },
): Promise<Account> {
  const { accounts } = dependencies;
  // The configuration file owns the fields of its users.
  if (account.source === 'file') return account;
  const address = await addressOf(accounts, account, profile, tx);
  const all = { ...acceptableFields(profile, account.attributes), ...address };
  // So does a directory some of its people.
  const fields = await accounts.withoutManaged(account, all, tx);
  const updated = await accounts.update(account.id, fields, by, tx).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    const { attributes: _rejected, ...others } = fields;
    return accounts.update(account.id, others, by, tx);
  });
  if (fields.email) await reportNewAddress(dependencies, account, fields.email, { by, tx });
  return updated;
}

async function reportNewAddress(
  { audit, outbox, now }: Core,
  account: Account,
  newEmail: string,
  { by, tx }: { by: Actor; tx: Tx },
): Promise<void> {
  const data = { before: account.email, after: newEmail };
  await audit.record({ ...by, type: 'email.changed', outcome: 'success', subjectId: account.id, data }, tx);
  const to = recipientOf(account);
  if (to) await outbox.send({ kind: 'email-changed', to, newEmail, place: placeOf(by.request, now()) }, tx);
}

/** The address, if the upstream proves it and no other account has it. Nothing else changes an address that resets a password. */
async function addressOf(
  accounts: Accounts,
  account: Account,
  { email, isEmailTrusted }: MappedProfile,
  tx: Tx,
): Promise<Partial<Profile>> {
  if (email === undefined || !isEmailTrusted) return {};
  const proof = { emailVerified: true, emailProven: true };
  if (isAddressOf(account, email)) {
    if (isSameAddress(account.email, email)) return account.emailProven ? {} : proof;
    return account.emailVerified ? {} : { emailVerified: true };
  }
  const holder = await accounts.findByLogin(email, tx);
  return holder && holder.id !== account.id ? {} : { email, ...proof };
}

function faultsOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.faults.map(({ path }) => formatPath(path));
  }
}

// Decides which account a verified identity of an upstream signs in to: the first rule that applies. No rule trusts an address
// more than the connection allows. A pure function; docs/connections.md explains each rule to administrators.

/** An account that could be the user's. */
interface Candidate {
  id: string;
  isActive: boolean;
  emailVerified: boolean;
  /** How the upstream's address matches the account: equal, only similar-looking (people/accounts/names.ts), or equal to its username. */
  matches: 'address' | 'look-alike' | 'username';
  /** Whether the account has a password, a passkey or an identity of a connection, so that its owner can prove it. */
  hasOwnCredential: boolean;
  /** Whether the account has a permission for Gatehouse itself. */
  isStaff: boolean;
  /** That, or a directory manages the address. */
  keepsAddress: boolean;
  /** Whether the same connection has named another subject for the account. */
  isOfOtherSubject: boolean;
}

interface MatchFacts {
  /** The user who is already linked to this subject of this connection. */
  known: Account | undefined;
  /** The account of an invitation that is open in this browser. */
  invited: Account | undefined;
  /** The account whose email address or username is the address from the upstream. */
  holder: Candidate | undefined;
  /** Whether the upstream proves that the address is the user's. */
  isEmailTrusted: boolean;
  /** Whether the address is in a proven domain of this connection. */
  isInProvenDomain: boolean;
  /** The rules of the connection. */
  createUsers: boolean;
  linkOnly: boolean;
  link: 'prove' | 'trusted';
}

type Match =
  | { outcome: 'known'; userId: string }
  /** The identity is linked to this account at once. */
  | { outcome: 'link'; userId: string; rule: 'invitation' | 'trusted-address' }
  /** The identity is linked once the user has proven this account here. */
  | { outcome: 'prove'; userId: string }
  /** A new account; the one that never verified the address loses it. */
  | { outcome: 'create'; takesAddressFrom?: string }
  | { outcome: 'rejected'; fault: 'account_inactive' | 'not_invited' | 'address_in_use' };

function matchAccount(facts: MatchFacts): Match {
  const { known, invited, holder } = facts;
  if (known) return ifActive(known, { outcome: 'known', userId: known.id });
  // A user of such a connection links it on the account page first.
  if (facts.linkOnly) return { outcome: 'rejected', fault: 'not_invited' };
  if (invited) return ifActive(invited, { outcome: 'link', userId: invited.id, rule: 'invitation' });
  if (holder && !mustReleaseAddress(holder, facts)) {
    const { id: userId } = holder;
    // Two users of one upstream: another person, or one who was created again there. Only an administrator knows.
    if (holder.isOfOtherSubject) return ifActive(holder, { outcome: 'rejected', fault: 'address_in_use' });
    if (mayLinkWithoutProof(holder, facts))
      return ifActive(holder, { outcome: 'link', userId, rule: 'trusted-address' });
    const proof: Match = { outcome: 'prove', userId };
    // A user who only states the address reads that the account is disabled after the proof of it.
    return facts.isEmailTrusted ? ifActive(holder, proof) : proof;
  }
  if (!facts.createUsers) return { outcome: 'rejected', fault: 'not_invited' };
  return holder ? { outcome: 'create', takesAddressFrom: holder.id } : { outcome: 'create' };
}

/**
 * The creator of an account may have entered the address of another person without verifying it (pre-hijacking, arXiv 2205.10174). So
 * the user who proves the address gets the address, but not the account. An administrator's account, and one of a directory, keeps its address.
 */
function mustReleaseAddress({ emailVerified, keepsAddress, matches }: Candidate, facts: MatchFacts): boolean {
  return !emailVerified && facts.isEmailTrusted && !keepsAddress && matches !== 'username';
}

/** Without a proof only if nothing but the address could prove the account, and both sides have verified it. */
function mayLinkWithoutProof(holder: Candidate, { link, isEmailTrusted, isInProvenDomain }: MatchFacts): boolean {
  const isProvenTwice = isEmailTrusted && isInProvenDomain && holder.emailVerified && holder.matches === 'address';
  return link === 'trusted' && isProvenTwice && !holder.hasOwnCredential && !holder.isStaff;
}

function ifActive({ isActive }: { isActive: boolean }, match: Match): Match {
  return isActive ? match : { outcome: 'rejected', fault: 'account_inactive' };
}
