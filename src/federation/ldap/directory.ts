// Looks a user up in a directory and checks the password by a bind as that user. Read only.

import { randomBytes } from 'node:crypto';
import type { Entry } from 'ldapts';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { LdapConnection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import type { LdapSettings } from '../connections/kinds/ldap.ts';
import { isRejected } from '../connections/secrets.ts';
import { FederationError } from '../faults.ts';
import type { PassedCheck, UpstreamIdentity } from '../upstream.ts';
import { directoryUnavailable, invalidAnswer, type PasswordRejection, searchAccountRejected } from './errors.ts';
import { allOf, attributesOfLogin, equals, filterWith, oneOf } from './filter.ts';
import {
  type AccountRejection,
  accountRejection,
  claimsOf,
  requestedAttributes,
  stateAttributes,
  subjectFilter,
  subjectOf,
  valuesOf,
} from './identity.ts';
import { type DirectorySession, withDirectory } from './session.ts';

export type DirectoryCheck =
  | { outcome: 'right'; identity: UpstreamIdentity }
  /** The password is right, and the directory rejects the sign-in. `reason` is for the audit log. */
  | { outcome: 'rejected'; rejection: PasswordRejection; reason: string }
  /** `reason` is for the audit log only. */
  | { outcome: 'wrong'; reason: string };

/** Records what the bind cost: `untried` where the directory counts no wrong password. */
export type SettleBind = (outcome: 'right' | 'wrong' | 'untried') => Promise<void>;

/** Gets the identifier of the entry before the bind; without an answer the password is not sent, and is wrong. */
export type MayBind = (subject: string, lockout: DirectoryLockout) => Promise<SettleBind | undefined>;

/** An entry, and what a sign-in with the right password would find. */
export interface FoundUser {
  identity: UpstreamIdentity;
  checks: PassedCheck[];
  rejection: AccountRejection | undefined;
  /** When the directory locks the account. */
  lockout: DirectoryLockout;
}

export type Directory = ReturnType<typeof createDirectory>;

export function createDirectory(services: Base & { connections: Connections }) {
  const { connections, now } = services;

  const withSearchBind = createSearchBind({ ...services, connections });
  const readDomain = createReadDomain(now);

  /** The one entry of a login. Throws upstream_answer_invalid for several, and for one that is not below the base DN. */
  async function findUser(session: DirectorySession, connection: LdapConnection, login: string) {
    const { active_directory: isActiveDirectory, filter } = connection.settings;
    if (login.trim() === '') return undefined;
    const domain = isActiveDirectory ? await readDomain(session, connection) : undefined;
    const logins = domain ? loginsOf(login, domain) : [login];
    const found: (Entry | undefined)[] = [];
    // Each is searched for, whatever the first finds, so that a known login takes no less.
    for (const one of logins) found.push(await searchOne(session, connection, makeFilter(filter, one)));
    const entry = found.find((one) => one !== undefined);
    return entry && { entry, lockout: await lockoutOf(session, connection, entry, domain) };
  }

  /** The entry to bind as, or why there is none: an answer that tells more would tell which logins exist. */
  async function findForBind(
    session: DirectorySession,
    connection: LdapConnection,
    login: string,
    mayBind: MayBind,
  ): Promise<{ entry: Entry; settle: SettleBind } | { reason: string }> {
    try {
      const found = await findUser(session, connection, login);
      if (!found) return { reason: 'unknown_account' };
      const settle = await mayBind(subjectOf(found.entry, connection), found.lockout);
      return settle ? { entry: found.entry, settle } : { reason: 'too_many_tries' };
    } catch (error) {
      if (!(error instanceof FederationError) || error.code === 'upstream_unavailable') throw error;
      return { reason: error.code === 'upstream_no_identity' ? 'directory_no_identifier' : 'directory_answer_invalid' };
    }
  }

  async function described(
    session: DirectorySession,
    connection: LdapConnection,
    { entry, lockout }: { entry: Entry; lockout: DirectoryLockout },
  ): Promise<FoundUser> {
    const { settings } = connection;
    const identity = await identityOf(session, connection, entry, undefined);
    const rejection = accountRejection(entry, settings, now());
    const checks = [
      { name: 'Account that searches', expected: 'a bind', received: settings.bind_dn ?? 'anonymous' },
      { name: 'Entry', expected: `one, below ${settings.base_dn}`, received: entry.dn },
      { name: 'Identifier', expected: `one ${settings.subject_attribute}`, received: identity.subject },
    ];
    return { identity, checks, rejection, lockout };
  }

  return {
    /** Checks the password of a login. Throws upstream_unavailable. */
    async checkPassword(
      connection: LdapConnection,
      { login, password }: { login: string; password: string },
      mayBind: MayBind,
    ): Promise<DirectoryCheck> {
      const fault = passwordFault(password);
      if (fault) return { outcome: 'wrong', reason: fault };
      return withSearchBind(connection, async (session, rebind) => {
        const candidate = await findForBind(session, connection, login, mayBind);
        if ('reason' in candidate) {
          await bindWithRandomDn(session, connection);
          return { outcome: 'wrong', reason: candidate.reason };
        }
        const { entry, settle } = candidate;
        const failure = await session.bindAsUser(entry.dn, password).catch(async (error: unknown) => {
          // The directory may have judged the password before the connection broke.
          await settle('wrong');
          throw error;
        });
        if (failure) {
          const { rejection, reason } = failure;
          await settle(rejection ? 'untried' : 'wrong');
          return rejection ? { outcome: 'rejected', rejection, reason } : { outcome: 'wrong', reason };
        }
        await settle('right');
        if (connection.settings.groups) await rebind();
        return { outcome: 'right', identity: await identityOf(session, connection, entry, now()) };
      });
    },

    /** Takes as long as checkPassword, for a login that belongs to no directory: a search without a hit, and a bind that fails. */
    async imitateCheck(connection: LdapConnection, login: string): Promise<void> {
      await withSearchBind(connection, async (session) => {
        await findUser(session, connection, randomLoginLike(login));
        await bindWithRandomDn(session, connection);
      });
    },

    /**
     * The identity of a login without its password, for "Try it"; undefined: no such user. An administrator asks, so a password of the
     * account that searches is tried again that the directory has rejected.
     */
    lookUp: (connection: LdapConnection, login: string): Promise<FoundUser | undefined> =>
      withSearchBind(
        connection,
        async (session) => {
          const found = await findUser(session, connection, login);
          return found && described(session, connection, found);
        },
        { triesRejected: true },
      ),

    /** The same of a known user. Undefined: there is no such entry any more, or the filter of the connection leaves it out. */
    findAgain: (connection: LdapConnection, subject: string): Promise<FoundUser | undefined> =>
      withSearchBind(connection, async (session) => {
        const entry = await searchOne(session, connection, subjectFilter(subject, connection));
        if (!entry) return undefined;
        const { filter } = connection.settings;
        const logins = attributesOfLogin(filter).flatMap((name) => valuesOf(entry, name));
        const asLogins = logins.flatMap((one) => (typeof one === 'string' ? [makeFilter(filter, one)] : []));
        if (asLogins.length === 0) return undefined;
        const stillFound = await searchOne(
          session,
          connection,
          allOf(subjectFilter(subject, connection), oneOf(...asLogins)),
        );
        if (!stillFound) return undefined;
        const { active_directory: isActiveDirectory } = connection.settings;
        const domain = isActiveDirectory ? await readDomain(session, connection) : undefined;
        const lockout = await lockoutOf(session, connection, stillFound, domain);
        return described(session, connection, { entry: stillFound, lockout });
      }),

    /** Connects and binds as the account that searches, reads the base DN and tries the filter, for doctor. */
    async probe(connection: LdapConnection): Promise<void> {
      await withSearchBind(connection, async (session) => {
        await session.search({
          base: connection.settings.base_dn,
          scope: 'base',
          filter: filterWith('(objectClass=*)', 'dn', ''),
          attributes: ['1.1'],
          max: 1,
        });
        await findUser(session, connection, randomLoginLike(''));
      });
    },
  };
}

/** Passwords that are never sent: an empty one binds anonymously, and some directories end a password at a NUL. */
function passwordFault(password: string): string | undefined {
  if (password === '') return 'empty_password';
  return password.includes('\0') ? 'wrong_password' : undefined;
}

async function searchOne(
  session: DirectorySession,
  connection: LdapConnection,
  filter: ReturnType<typeof filterWith>,
): Promise<Entry | undefined> {
  const { settings } = connection;
  const { attributes, binary } = requestedAttributes(connection);
  const { entries, isCut } = await session.search({
    base: settings.base_dn,
    scope: 'sub',
    filter,
    max: 2,
    attributes: [...new Set([...attributes, ...stateAttributes(settings)])],
    binary,
  });
  const [entry, second] = entries;
  if (isCut || second) throw invalidAnswer('Several entries have this login.', 'one entry', 'several');
  if (!entry) return undefined;
  if (!isBelow(entry.dn, settings.base_dn))
    throw invalidAnswer(
      'The directory returned an entry outside of the base DN.',
      `below ${settings.base_dn}`,
      entry.dn,
    );
  return entry;
}

/** As the connection states it, or as the domain does; otherwise a strict one. */
async function lockoutOf(
  session: DirectorySession,
  { settings }: LdapConnection,
  entry: Entry,
  domain: Domain | undefined,
): Promise<DirectoryLockout> {
  const { lockout: usual, noLockout } = limits.ldap;
  const { lockout_threshold: threshold, lockout_window_minutes: minutes } = settings;
  const ofUser = domain && threshold === undefined ? await lockoutOfUser(session, entry) : undefined;
  const read = ofUser === 'unreadable' ? undefined : (ofUser ?? domain?.lockout);
  const lockout = {
    threshold: threshold ?? read?.threshold ?? usual.threshold,
    windowSeconds: minutes === undefined ? (read?.windowSeconds ?? usual.windowSeconds) : minutes * 60,
  };
  return lockout.threshold === 0 ? noLockout : lockout;
}

function makeFilter(template: string, login: string) {
  try {
    return filterWith(template, 'username', login);
  } catch (error) {
    throw directoryUnavailable('the filter of the connection', error);
  }
}

/** A login that nobody has; with the domain of the typed one, so that it is searched for as often. */
function randomLoginLike(login: string): string {
  const random = randomBytes(12).toString('hex');
  const [, domain] = /^([^\\]+\\)[^\\]+$/.exec(login.trim()) ?? [];
  if (domain !== undefined) return `${domain}${random}`;
  const at = login.lastIndexOf('@');
  return at > 0 ? `${random}${login.slice(at)}` : random;
}

/** Takes as long as a wrong password, as far as the directory does. The typed password is not sent. */
async function bindWithRandomDn(session: DirectorySession, { settings }: LdapConnection): Promise<void> {
  const random = randomBytes(12).toString('hex');
  await session.bindAsUser(`cn=${random},${settings.base_dn}`, random);
}

async function identityOf(
  session: DirectorySession,
  connection: LdapConnection,
  entry: Entry,
  authTime: Date | undefined,
): Promise<UpstreamIdentity> {
  return {
    subject: subjectOf(entry, connection),
    claims: claimsOf(entry, connection),
    groups: await groupsOf(session, connection, entry),
    acr: undefined,
    amr: ['pwd'],
    authTime,
    session: undefined,
  };
}

// The groups of a user: an attribute of the entry (memberOf), or a search for groups that have the user as a member, with the
// groups of those groups, and the primary group of Active Directory, which is in neither. A list that may be cut short says so, and
// changes no roles then.

interface GroupList {
  names: string[];
  isComplete: boolean;
}

type GroupSettings = NonNullable<LdapSettings['groups']>;

/** LDAP_MATCHING_RULE_IN_CHAIN of Active Directory: members of members, in one search. */
const IN_CHAIN = '(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={dn}))';

/** Undefined: the connection has no groups. `session` is bound to search. */
async function groupsOf(
  session: DirectorySession,
  { settings }: LdapConnection,
  entry: Entry,
): Promise<GroupList | undefined> {
  const { groups, active_directory: isActiveDirectory, base_dn: base } = settings;
  if (!groups) return undefined;
  if (isActiveDirectory) return groupsInDomain(session, groups, entry, groups.base_dn ?? domainRootOf(base));
  if (groups.base_dn === undefined) return listedGroups(entry, groups);
  return groups.nested ? nestedGroups(session, groups, entry.dn) : membersOf(session, groups, entry.dn);
}

/** Those of Active Directory. @param root where groups are searched for */
async function groupsInDomain(
  session: DirectorySession,
  groups: GroupSettings,
  entry: Entry,
  root: string,
): Promise<GroupList> {
  const primary = await primaryGroupOf(session, { ...groups, base_dn: root }, entry);
  if (groups.nested) {
    const inChain = { ...groups, base_dn: root, filter: IN_CHAIN };
    const lists = await Promise.all([entry, ...primary].map(({ dn }) => membersOf(session, inChain, dn)));
    return joined(lists, namesOf(primary, groups));
  }
  if (groups.base_dn !== undefined)
    return joined([await membersOf(session, groups, entry.dn)], namesOf(primary, groups));
  // By its DN, as memberOf names the others.
  const primaryNames = primary.map(({ dn }) => dn);
  return joined([listedGroups(entry, groups)], primaryNames);
}

function joined(lists: readonly GroupList[], others: readonly string[]): GroupList {
  const names = [...lists.flatMap((list) => list.names), ...others];
  return { names: [...new Set(names)], isComplete: lists.every(({ isComplete }) => isComplete) };
}

/** The group whose SID has the domain of the user and `primaryGroupID` (MS-ADTS 3.1.1.4.5.34); no member lists it. */
async function primaryGroupOf(session: DirectorySession, groups: GroupSettings, entry: Entry): Promise<Entry[]> {
  const [sid] = valuesOf(entry, 'objectSid');
  const id = Number(valuesOf(entry, 'primaryGroupID')[0]);
  if (!Buffer.isBuffer(sid) || sid.length < 12 || !Number.isInteger(id)) return [];
  const ofGroup = Buffer.from(sid);
  ofGroup.writeUInt32LE(id, sid.length - 4);
  const { entries } = await session.search({
    base: groups.base_dn ?? '',
    scope: 'sub',
    max: 1,
    filter: allOf(equals('objectClass', 'group'), equals('objectSid', ofGroup)),
    attributes: [groups.name_attribute],
  });
  return entries;
}

/** The attribute of the user: DNs of groups. Active Directory cuts a long one (`memberOf;range=0-1499`). */
function listedGroups(entry: Entry, { attribute }: GroupSettings): GroupList {
  const name = attribute.toLowerCase();
  const ranges = Object.keys(entry).filter((key) => key.toLowerCase().startsWith(`${name};`));
  const values = [attribute, ...ranges].flatMap((one) => valuesOf(entry, one));
  const names = values.filter((value) => typeof value === 'string').slice(0, limits.ldap.maxGroups);
  return { names, isComplete: ranges.length === 0 && names.length === values.length };
}

async function membersOf(session: DirectorySession, groups: GroupSettings, dn: string): Promise<GroupList> {
  const { entries, isCut } = await searchGroups(session, groups, dn);
  return { names: namesOf(entries, groups), isComplete: !isCut };
}

/** Level by level, each group once. */
async function nestedGroups(session: DirectorySession, groups: GroupSettings, dn: string): Promise<GroupList> {
  const found = new Map<string, Entry>();
  let members = [dn];
  for (let level = 0; level < limits.ldap.nestedLevels && members.length > 0; level += 1) {
    const next: string[] = [];
    for (const member of members) {
      const { entries, isCut } = await searchGroups(session, groups, member);
      const added = entries.filter((one) => !found.has(one.dn.toLowerCase()));
      for (const one of added) found.set(one.dn.toLowerCase(), one);
      next.push(...added.map((one) => one.dn));
      if (isCut || found.size > limits.ldap.maxGroups)
        return { names: namesOf([...found.values()], groups), isComplete: false };
    }
    members = next;
  }
  return { names: namesOf([...found.values()], groups), isComplete: members.length === 0 };
}

function searchGroups(
  session: DirectorySession,
  { base_dn: base = '', filter, name_attribute }: GroupSettings,
  dn: string,
) {
  return session.search({
    base,
    scope: 'sub',
    filter: filterWith(filter, 'dn', dn),
    attributes: [name_attribute],
    max: limits.ldap.maxGroups,
  });
}

/** The name of each group; its DN where it has no name. */
function namesOf(entries: readonly Entry[], { name_attribute: attribute }: GroupSettings): string[] {
  const names = entries.map((entry) => {
    const [name] = valuesOf(entry, attribute);
    return typeof name === 'string' && name !== '' ? name : entry.dn;
  });
  return [...new Set(names)];
}

// The bind of the account that searches. A password that the directory rejects is not sent again until it changes: sign-in forms would
// lock the account otherwise. One sign-in at a time binds, so that many at once find a new rejection before they send the password too.

interface SearchBindOptions {
  /** An administrator asks: a rejected password is tried once more when no other is left. */
  triesRejected?: boolean;
}

/** Runs `work` bound to search; `rebind` does it again after a bind as a user. */
type WithSearchBind = <T>(
  connection: LdapConnection,
  work: (session: DirectorySession, rebind: () => Promise<void>) => Promise<T>,
  options?: SearchBindOptions,
) => Promise<T>;

function createSearchBind({ config, connections, now }: Base & { connections: Connections }): WithSearchBind {
  const limitConcurrency = createConcurrencyLimit(now);
  const inTurn = createTurns();

  async function bind(session: DirectorySession, { id, settings }: LdapConnection, options: SearchBindOptions) {
    const { bind_dn: dn } = settings;
    if (dn === undefined) {
      const rejection = await session.bindToSearch(undefined, undefined);
      if (rejection) throw directoryUnavailable('the anonymous bind', new Error(rejection.text));
      return;
    }
    // Read in each turn: the sign-in before it, here or at another node, may have been rejected.
    const secrets = await connections.decryptedSecrets(id, 'bind-password');
    const usable = secrets.filter((one) => !isRejected(one, now()));
    const tried = usable.length > 0 || !options.triesRejected ? usable : secrets.slice(0, 1);
    if (secrets.length === 0) await session.bindToSearch(dn, undefined);
    for (const secret of tried) {
      const rejection = await session.bindToSearch(dn, secret.value);
      if (!rejection) {
        if (secret.rejectedAt) await connections.secretAccepted(id, secret.id);
        return;
      }
      await connections.secretRejected(id, secret.id, rejection);
    }
    const [latest] = await connections.decryptedSecrets(id, 'bind-password');
    throw searchAccountRejected(dn, latest?.rejectedText ?? 'no password');
  }

  return (connection, work, options = {}) =>
    limitConcurrency(connection.id, () => {
      const bindInTurn = (session: DirectorySession) => inTurn(connection.id, () => bind(session, connection, options));
      return withDirectory(
        { ...connection.settings, authorityFiles: config.authorityFiles },
        { open: bindInTurn, work: (session) => work(session, () => bindInTurn(session)) },
      );
    });
}

/** Runs the work of each key one after the other. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(
      key,
      done.catch(() => {}),
    );
    return done;
  };
}

type ConcurrencyLimit = <T>(connectionId: string, work: () => Promise<T>) => Promise<T>;

interface State {
  running: number;
  downUntil: number;
  /** In the order in which they came. `true`: a place is free. */
  waiting: ((hasPlace: boolean) => void)[];
}

/** Throws upstream_unavailable when the directory has no place in time. */
function createConcurrencyLimit(now: Clock): ConcurrencyLimit {
  const states = new Map<string, State>();
  const { maxConcurrent, maxWaiting, downSeconds, signInSeconds } = limits.ldap;
  const isDown = ({ downUntil }: State) => downUntil > now().getTime();

  /** Resolves with a place taken, or with `false`. */
  function place(state: State): Promise<boolean> {
    if (state.running < (isDown(state) ? 1 : maxConcurrent)) {
      state.running += 1;
      return Promise.resolve(true);
    }
    if (isDown(state) || state.waiting.length >= maxWaiting) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (hasPlace: boolean) => {
        clearTimeout(timer);
        state.waiting = state.waiting.filter((one) => one !== settle);
        if (hasPlace) state.running += 1;
        resolve(hasPlace);
      };
      const timer = setTimeout(() => settle(false), signInSeconds * 1000);
      state.waiting.push(settle);
    });
  }

  function release(state: State): void {
    state.running -= 1;
    if (isDown(state)) for (const settle of state.waiting) settle(false);
    else state.waiting[0]?.(true);
  }

  return async (id, work) => {
    const state = states.get(id) ?? { running: 0, downUntil: 0, waiting: [] };
    states.set(id, state);
    if (!(await place(state)))
      throw directoryUnavailable('the sign-in', new Error('too many sign-ins wait for the directory'));
    try {
      const result = await work();
      state.downUntil = 0;
      return result;
    } catch (error) {
      if (error instanceof FederationError && error.code === 'upstream_unavailable')
        state.downUntil = now().getTime() + downSeconds * 1000;
      throw error;
    } finally {
      release(state);
    }
  };
}

// What an Active Directory domain says about itself: the name in front of a login (CORP\name), and when it locks an account.

interface DirectoryLockout {
  /** So many wrong passwords lock the account. */
  threshold: number;
  /** The directory counts from zero after so long without a wrong password. */
  windowSeconds: number;
}

interface Domain {
  /** Of the domain itself, by the names that may be in front of a login, in lower case. */
  names: string[];
  /** Undefined: it could not be read. Threshold 0: accounts are never locked. */
  lockout: DirectoryLockout | undefined;
}

type ReadDomain = (session: DirectorySession, connection: LdapConnection) => Promise<Domain>;

/** Reads it once in some minutes for each connection. */
function createReadDomain(now: Clock): ReadDomain {
  const cached = new Map<string, { domain: Domain; until: number }>();
  return async (session, { id, settings }) => {
    const root = domainRootOf(settings.base_dn);
    const key = `${id} ${settings.url} ${root}`;
    const found = cached.get(key);
    if (found && found.until > now().getTime()) return found.domain;
    const domain = await readDomain(session, root);
    cached.set(key, { domain, until: now().getTime() + limits.ldap.domainSeconds * 1000 });
    return domain;
  };
}

async function readDomain(session: DirectorySession, root: string): Promise<Domain> {
  const domain = await entryAt(session, root, [THRESHOLD, WINDOW]);
  const stated = await namesInPartitions(session, root);
  const labels = [...root.matchAll(/dc=([^,]+)/gi)].map(([, label = '']) => label.trim());
  // Where the partitions can't be read, the first label of the DNS name is the usual one.
  const names = stated.length > 0 ? stated : labels.slice(0, 1);
  const all = [...names, labels.join('.')].map((name) => name.toLowerCase());
  return {
    names: [...new Set(all)].filter((name) => name !== ''),
    lockout: lockoutIn(domain, THRESHOLD, WINDOW),
  };
}

const NAMES = ['nETBIOSName', 'dnsRoot'];
const CONFIGURATION = 'configurationNamingContext';
const THRESHOLD = 'lockoutThreshold';
const WINDOW = 'lockOutObservationWindow';

/** The names of the domain in the list that its forest keeps of all domains; none where it can't be read. */
async function namesInPartitions(session: DirectorySession, root: string): Promise<string[]> {
  const configuration = textOf(await entryAt(session, '', [CONFIGURATION]), CONFIGURATION);
  if (configuration === undefined) return [];
  const search = { base: `CN=Partitions,${configuration}`, scope: 'sub', attributes: NAMES, max: 1 } as const;
  const found = await session.search({ ...search, filter: equals('nCName', root) }).catch(() => undefined);
  return NAMES.flatMap((name) => textOf(found?.entries[0], name) ?? []);
}

/** The entry with this DN; undefined where it can't be read. */
async function entryAt(session: DirectorySession, dn: string, attributes: string[]): Promise<Entry | undefined> {
  const filter = filterWith('(objectClass=*)', 'dn', '');
  const found = await session.search({ base: dn, scope: 'base', filter, attributes, max: 1 }).catch(() => undefined);
  return found?.entries[0];
}

/** The policy of the password settings object that applies to the user (MS-ADTS 3.1.1.4.5.36); most accounts may not read it. */
async function lockoutOfUser(
  session: DirectorySession,
  entry: Entry,
): Promise<DirectoryLockout | 'unreadable' | undefined> {
  const dn = textOf(entry, 'msDS-ResultantPSO');
  if (dn === undefined) return undefined;
  const [threshold, window] = ['msDS-LockoutThreshold', 'msDS-LockoutObservationWindow'] as const;
  const settings = await entryAt(session, dn, [threshold, window]);
  return lockoutIn(settings, threshold, window) ?? 'unreadable';
}

/** The window is negative, in intervals of 100 ns. */
function lockoutIn(entry: Entry | undefined, threshold: string, window: string): DirectoryLockout | undefined {
  const [count, interval] = [textOf(entry, threshold), textOf(entry, window)];
  if (count === undefined || !/^\d{1,9}$/.test(count)) return undefined;
  const seconds = Math.abs(Number(interval ?? 0)) / 10_000_000;
  // Without an end, an administrator unlocks: a month is as good as that.
  const windowSeconds = seconds > 0 && seconds < MONTH ? seconds : MONTH;
  return { threshold: Number(count), windowSeconds };
}

const MONTH = 30 * 86_400;

function textOf(entry: Entry | undefined, name: string): string | undefined {
  const [value] = entry === undefined ? [] : valuesOf(entry, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The logins to search for, the best one first; none when the login names another domain. */
function loginsOf(login: string, { names }: Domain): string[] {
  const [, domain, name] = /^([^\\]+)\\([^\\]+)$/.exec(login.trim()) ?? [];
  if (domain !== undefined && name !== undefined) return names.includes(domain.toLowerCase()) ? [name] : [];
  // Without userPrincipalName the name is that of the account at the DNS name of the domain (MS-ADTS 5.1.1.1.1).
  const at = login.lastIndexOf('@');
  const suffix = login.slice(at + 1).trim();
  return at > 0 && names.includes(suffix.toLowerCase()) ? [login, login.slice(0, at)] : [login];
}

// Distinguished names (RFC 4514): whether an entry is below a base, and the suffix of a domain.

/**
 * Whether the entry is the base or below it. Names are compared after normalization of case, spaces and escapes
 * (RFC 4514).
 */
function isBelow(dn: string, base: string): boolean {
  const [entry, parent] = [rdnsOf(dn), rdnsOf(base)];
  if (entry === undefined || parent === undefined || parent.length === 0 || entry.length < parent.length) return false;
  return parent.every((part, at) => part === entry[entry.length - parent.length + at]);
}

/** The trailing `dc=` parts: the root of the domain; the DN itself when it has none. */
function domainRootOf(dn: string): string {
  return /(?:^|,)\s*(dc=[^,\\]+(?:\s*,\s*dc=[^,\\]+)*)\s*$/i.exec(dn)?.[1] ?? dn;
}

/** The RDNs, normalized; undefined for a text that is no DN. */
function rdnsOf(dn: string): string[] | undefined {
  const parts = dn.split(/(?<=(?:^|[^\\])(?:\\\\)*)[,;]/);
  const normalized = parts.map((part) => {
    const [, type = '', value = ''] = /^\s*([A-Za-z0-9.-]+)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    return type === '' ? undefined : `${type}=${unescaped(value)}`.toLowerCase();
  });
  return normalized.includes(undefined) ? undefined : (normalized as string[]);
}

function unescaped(value: string): string {
  const bytes: Buffer[] = [];
  for (const [, hex, character, plain] of value.matchAll(/\\([0-9a-f]{2})|\\(.)|([^\\]+)/gisu)) {
    bytes.push(hex === undefined ? Buffer.from(character ?? plain ?? '') : Buffer.from(hex, 'hex'));
  }
  return Buffer.concat(bytes).toString('utf8');
}
