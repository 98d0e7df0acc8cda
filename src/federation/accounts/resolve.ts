// Signs a verified identity in to an account: finds it by match.ts, creates or links it, and lets profile and roles follow the
// upstream. Everything happens in one transaction.
import type { Account } from '../../accounts/account.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { nameKey } from '../../accounts/names.ts';
import type { Actor, Audit } from '../../audit/audit.ts';
import type { Connection } from '../../connections/connection.ts';
import type { Connections } from '../../connections/connections.ts';
import type { RoleMapping } from '../../connections/role-mappings.ts';
import { AppError } from '../../http/errors.ts';
import type { EndSession } from '../../logout/end-session.ts';
import type { NotifyOwner } from '../../mail/notify-owner.ts';
import type { Outbox } from '../../mail/outbox.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RequestInfo } from '../../platform/request-info.ts';
import type { SetConnectionRoles } from '../../rbac/connection-roles.ts';
import { type Db, type Tx, transaction } from '../../storage/database.ts';
import type { ExternalIdentities } from '../identities.ts';
import type { UpstreamIdentity } from '../upstream.ts';
import { type AccountFacts, type FactsDependencies, labelOf, readFacts } from './facts.ts';
import { type MappedProfile, mappedRoles } from './mapping.ts';
import { type Match, matchAccount } from './match.ts';
import { addressInUse, assertUser, isTakenMeanwhile, rejected, taken } from './rejections.ts';
import { acceptableFields, updateProfile } from './update-profile.ts';
import { freeUserName } from './user-name.ts';

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
  hasAllGroups: boolean;
}

export interface ResolverDependencies extends FactsDependencies {
  db: Db;
  now: Clock;
  audit: Audit;
  outbox: Outbox;
  accounts: Accounts;
  connections: Connections;
  identities: ExternalIdentities;
  setConnectionRoles: SetConnectionRoles;
  endSession: EndSession;
  notifyOwner: NotifyOwner;
  /** Mails a link to an address that the upstream does not prove; a click makes it the account's. */
  confirmAddress(account: Account, email: string, request: RequestInfo): Promise<void>;
}

export function createResolver(dependencies: ResolverDependencies) {
  const { db, accounts, connections, notifyOwner } = dependencies;

  // From the cache where no transaction is open: in one, a read beside it would wait for a second connection to the database.
  async function rulesOf({ id }: Connection, tx?: Tx): Promise<ConnectionRules> {
    return { domains: await connections.provenDomains(id, tx), mappings: await connections.roleMappings(id, tx) };
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
      if (facts.identityId && isNew) throw taken(facts);
      if (isNew) await addIdentity(dependencies, { connection, identity, facts }, account, by, tx);
      await setRoles(dependencies, { connection, identity, rules }, account.id, by, tx);
      return async () => {
        if (isNew) await notifyOwner(account, 'identity-linked', by.request);
      };
    },

    /** What `resolve` would do; writes nothing. */
    async preview(connection: Connection, identity: UpstreamIdentity): Promise<Preview> {
      const { domains, mappings } = await rulesOf(connection);
      const facts = await readFacts(dependencies, connection, identity, { domains }, db);
      const match = matchAccount(facts);
      const id = 'userId' in match ? match.userId : undefined;
      const { names, isComplete } = groupsOf(identity);
      const roleIds = mappedRoles(names, mappings);
      return {
        match,
        facts,
        account: id === undefined ? undefined : await accounts.find(id),
        roles: [...new Set(mappings.filter(({ roleId }) => roleIds.includes(roleId)).map(({ role }) => role))],
        hasAllGroups: isComplete,
      };
    },
  };
}

/** What is declared beside the connection. */
interface ConnectionRules {
  domains: readonly string[];
  mappings: readonly RoleMapping[];
}

interface Case {
  connection: Connection;
  identity: UpstreamIdentity;
  rules: ConnectionRules;
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

async function apply(dependencies: ResolverDependencies, found: Case, tx: Tx): Promise<Applied> {
  const { accounts, identities, audit, endSession } = dependencies;
  const { connection, identity, facts, match } = found;
  const { profile } = facts;
  let account: Account;
  if (match.outcome === 'create') {
    account = await createFor(dependencies, found, match.takesAddressFrom, tx);
  } else {
    const existing = facts.known?.id === match.userId ? facts.known : await accounts.find(match.userId, tx);
    if (!existing) throw rejected('account_inactive', connection, facts);
    account = connection.settings.update_profile
      ? await updateProfile(dependencies, existing, profile, { by: found.by, tx })
      : existing;
  }
  const by = { ...found.by, actorId: account.id };
  if (facts.identityId && match.outcome === 'known')
    await identities.used(facts.identityId, labelOf(profile, identity.subject), tx);
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

function addIdentity(
  { identities }: ResolverDependencies,
  { connection, identity, facts }: Pick<Case, 'connection' | 'identity' | 'facts'>,
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
  { accounts }: ResolverDependencies,
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
  const address = profile.isEmailTrusted && profile.email ? { email: profile.email, emailVerified: true } : {};
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
  dependencies: ResolverDependencies,
  { connection, identity, rules }: Pick<Case, 'connection' | 'identity' | 'rules'>,
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

/** Whether a role was given or taken away. */
async function setRoles(
  { setConnectionRoles }: ResolverDependencies,
  { connection, identity, rules }: Pick<Case, 'connection' | 'identity' | 'rules'>,
  userId: string,
  by: Actor,
  tx: Tx,
): Promise<boolean> {
  const { names, isComplete } = groupsOf(identity);
  if (!isComplete) return false;
  const roleIds = mappedRoles(names, rules.mappings);
  const { added, removed } = await setConnectionRoles(userId, { connectionId: connection.id, roleIds }, by, tx);
  return added.length + removed.length > 0;
}
