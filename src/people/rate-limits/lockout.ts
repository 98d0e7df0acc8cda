// Lockout and brute-force protection of the password: which attempts are allowed, which need a CAPTCHA, and whether an
// account is locked. Each attempt is counted in several counters: of its network, of the name that was typed (or of the known browser),
// and of the account, whatever name was typed. At the limit of the last one the response is that to a wrong password, because a wait would
// tell that two names belong together.
//
// Only failures stay counted. An attempt counts from its start, and others wait for its result in the queue: any number of correct
// sign-ins from one address succeed, and parallel guesses get no additional attempts.

import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import type { Account } from '../accounts/account.ts';
import { nameKey } from '../accounts/names.ts';
import type { AttemptCounters, Begun } from './attempt-counters.ts';
import { addressBlock, type PolicyName, siteBlock } from './policies.ts';
import type { RateLimits } from './rate-limits.ts';
import type { AttemptStep, SignInQueue } from './sign-in-queue.ts';

export interface PasswordAttempt {
  /** As typed: existing and unknown names are counted alike, so that a lockout does not tell which accounts exist. */
  login: string;
  /** Id of the account with this login, if there is one: its names share a count. */
  accountId?: string | undefined;
  address: string;
  /** Id of a known browser of the account; it has its own counter. */
  knownBrowser?: string | undefined;
  /** Checks the solution of the CAPTCHA, which is accepted once. Undefined where the page offers none. */
  solvesCaptcha?: (() => Promise<boolean>) | undefined;
}

export type AttemptResult<T> =
  /** The password was checked. */
  | { outcome: 'checked'; result: T }
  | { outcome: 'captcha' }
  | { outcome: 'wait'; retryAfterSeconds: number }
  /** Too many attempts wait for their turn. */
  | { outcome: 'busy'; retryAfterSeconds: number };

/** What a check of the password found. */
interface Checked {
  /** Undefined where nobody could judge the password: then the attempt does not count. */
  isRight: boolean | undefined;
}

/** Checks the password. `isLocked`: too many attempts failed under another name of the account; then it must fail after the same work. */
export type CheckAttempt<T> = (isLocked: boolean) => Promise<T>;

export type Lockout = ReturnType<typeof createLockout>;

/** A login of an account under which too many passwords were wrong. */
export interface Lock {
  by: LoginKind;
  /** How long a new browser waits. */
  seconds: number;
}

/** `all`: username and email address together. */
type LoginKind = 'username' | 'email' | 'all';

/** An account signs in by its username or its email address. */
export type LockableAccount = Pick<Account, 'id' | 'username' | 'email'>;

/** A counter in which an attempt is counted. */
interface UsedCounter {
  policy: PolicyName;
  key: string;
  /** Failures after which a CAPTCHA is required, if it depends on this counter. */
  captchaAfter?: number;
}

/** Whether an attempt can start now; `in-flight`: the attempts that this counter has in flight decide it. */
type StartOutcome =
  | { outcome: 'begun'; isLocked: boolean; counted: UsedCounter[] }
  | { outcome: 'in-flight'; counter: UsedCounter }
  | { outcome: 'captcha' }
  | { outcome: 'wait'; retryAfterSeconds: number };

const WHOLE_SERVER = 'all';
const BUSY_SECONDS = 3;
const { captchaAfterFailures } = limits.rateLimits;

export function createLockout(dependencies: { rateLimits: RateLimits; counters: AttemptCounters; queue: SignInQueue }) {
  const { rateLimits, counters, queue } = dependencies;
  return {
    /** Whether the page should display a CAPTCHA. */
    needsCaptcha: (attempt: PasswordAttempt): Promise<boolean> => needsCaptcha(dependencies, attempt),

    /** Counts the attempt when its turn comes, checks the password if that is allowed, and removes the count if the password was correct. */
    async attempt<T extends Checked>(attempt: PasswordAttempt, check: CheckAttempt<T>): Promise<AttemptResult<T>> {
      // A solution is accepted once, and the attempt may have several turns.
      const captcha = { isSolved: false };
      const place = {
        address: addressBlock(attempt.address),
        isKnownBrowser: attempt.knownBrowser !== undefined,
        counters: countersOf(attempt).map(counterId),
      };
      const decision = await queue.run(place, () => runAttempt(dependencies, attempt, captcha, check));
      return decision === 'busy' ? { outcome: 'busy', retryAfterSeconds: BUSY_SECONDS } : decision;
    },

    /** Ends the lockout of an account under each of its logins: by an administrator or a mailed link. */
    async unlock(account: LockableAccount): Promise<void> {
      for (const { policy, key } of accountCounters(account)) await rateLimits.reset(policy, key);
    },

    /** How many seconds a new browser has to wait for this account under any of its logins; 0 when it is not locked. */
    lockedSeconds: async (account: LockableAccount): Promise<number> =>
      Math.max(0, ...(await currentLocks(counters, account)).map(({ seconds }) => seconds)),
    /** The logins under which the account is locked now. */
    locks: (account: LockableAccount): Promise<Lock[]> => currentLocks(counters, account),
  };
}

/** One turn of an attempt: starts it if its limits allow it now, checks the password, and records the result. */
async function runAttempt<T extends Checked>(
  dependencies: { counters: AttemptCounters; rateLimits: RateLimits },
  attempt: PasswordAttempt,
  captcha: { isSolved: boolean },
  check: CheckAttempt<T>,
): Promise<AttemptStep<AttemptResult<T>>> {
  const started = await startAttempt(dependencies, attempt, captcha);
  if (started.outcome === 'in-flight') return { waitsFor: counterId(started.counter) };
  if (started.outcome !== 'begun') return { done: started };
  const { counted } = started;
  const withdraw = () => Promise.all(counted.map(({ policy, key }) => dependencies.counters.withdraw(policy, key)));
  const result = await check(started.isLocked).catch(async (error: unknown) => {
    await withdraw();
    throw error;
  });
  if (result.isRight === undefined) await withdraw();
  else if (result.isRight) await recordSuccess(dependencies, attempt, counted);
  else await recordFailure(dependencies, counted);
  return { done: { outcome: 'checked', result }, settled: dependencies.counters.settled() };
}

async function needsCaptcha(
  { rateLimits, counters }: { rateLimits: RateLimits; counters: AttemptCounters },
  attempt: PasswordAttempt,
): Promise<boolean> {
  if (attempt.knownBrowser) return false;
  const [overall, ...failures] = await Promise.all([
    rateLimits.peek('sign-in:overall', WHOLE_SERVER),
    ...revealedCounters(attempt).map(
      async ({ policy, key, captchaAfter = Number.POSITIVE_INFINITY }) =>
        (await counters.failures(policy, key)) >= captchaAfter,
    ),
  ]);
  return !overall.allowed || failures.includes(true);
}

async function startAttempt(
  dependencies: { rateLimits: RateLimits; counters: AttemptCounters },
  attempt: PasswordAttempt,
  captcha: { isSolved: boolean },
): Promise<StartOutcome> {
  const { rateLimits, counters } = dependencies;
  const { knownBrowser, solvesCaptcha } = attempt;
  if (knownBrowser || !solvesCaptcha || captcha.isSolved) return startCounting(dependencies, attempt, 'with CAPTCHA');
  if ((await rateLimits.peek('sign-in:overall', WHOLE_SERVER)).allowed) {
    const result = await startCounting(dependencies, attempt, 'without CAPTCHA');
    if (result.outcome !== 'wait') return result;
  }
  // A wait that no CAPTCHA can shorten; then the page offers none.
  const waits = await Promise.all(
    revealedCounters(attempt).map(({ policy, key }) => counters.waitSeconds(policy, key)),
  );
  const retryAfterSeconds = Math.max(...waits);
  if (retryAfterSeconds > 0) return { outcome: 'wait', retryAfterSeconds };
  captcha.isSolved = await solvesCaptcha();
  return captcha.isSolved ? startCounting(dependencies, attempt, 'with CAPTCHA') : { outcome: 'captcha' };
}

/** Counts the attempt with each of its counters, or with none when one does not allow it. */
async function startCounting(
  { counters }: { counters: AttemptCounters },
  attempt: PasswordAttempt,
  how: 'with CAPTCHA' | 'without CAPTCHA',
): Promise<StartOutcome> {
  // Without a CAPTCHA, a counter allows attempts only below the number of failures that demands one.
  const all = countersOf(attempt).map((counter) => ({
    ...counter,
    below: how === 'without CAPTCHA' ? counter.captchaAfter : undefined,
  }));
  // Read first: an attempt that has to wait writes nothing, and nearly every other one is counted by one transaction.
  const obstacles = await Promise.all(
    all.map(async (one) => obstacleOf(one, await counters.peek(one.policy, one.key, one.below))),
  );
  const obstacle = obstacles.find((one) => one !== undefined);
  if (obstacle) return obstacle;
  if (await counters.beginAll(all)) return { outcome: 'begun', isLocked: false, counted: all };
  return startOneByOne(counters, all);
}

/**
 * The counters one after the other, when they could not be counted together: a parallel request was first with one of them, or that of all names
 * is at its limit, which does not stop the attempt but makes it fail.
 */
async function startOneByOne(
  counters: AttemptCounters,
  all: readonly (UsedCounter & { below: number | undefined })[],
): Promise<StartOutcome> {
  const counted: UsedCounter[] = [];
  for (const one of all) {
    const begun = await counters.begin(one.policy, one.key, one.below);
    const obstacle = obstacleOf(one, begun);
    if (obstacle) {
      await Promise.all(counted.map(({ policy, key }) => counters.withdraw(policy, key)));
      return obstacle;
    }
    if (begun.outcome === 'counted') counted.push(one);
  }
  return { outcome: 'begun', isLocked: counted.length < all.length, counted };
}

/** The reason why the attempt cannot start now; undefined when this counter allows it. */
function obstacleOf(counter: UsedCounter, begun: Begun): Exclude<StartOutcome, { outcome: 'begun' }> | undefined {
  // The limit of all names together does not stop the attempt; it continues, and fails (policies.ts).
  if (begun.outcome === 'counted' || (begun.outcome === 'limit' && counter.policy === 'sign-in:all-names'))
    return undefined;
  if (begun.outcome === 'in-flight') return { outcome: 'in-flight', counter };
  return { outcome: 'wait', retryAfterSeconds: begun.retryAfterSeconds };
}

async function recordFailure(
  { rateLimits, counters }: { rateLimits: RateLimits; counters: AttemptCounters },
  counted: UsedCounter[],
): Promise<void> {
  await Promise.all([
    ...counted.map(({ policy, key }) => counters.failed(policy, key)),
    rateLimits.consume('sign-in:overall', WHOLE_SERVER), // it only decides on the CAPTCHA
  ]);
}

/** Resets the counters of the name or browser that this attempt used, and no others: a known browser must not give an attacker new attempts. */
async function recordSuccess(
  { rateLimits, counters }: { rateLimits: RateLimits; counters: AttemptCounters },
  { address }: PasswordAttempt,
  counted: UsedCounter[],
): Promise<void> {
  const networks = networkCounters(address);
  for (const { policy, key } of networks) await counters.withdraw(policy, key);
  const others = counted.filter(({ policy }) => !networks.some((network) => network.policy === policy));
  await Promise.all(others.map(({ policy, key }) => rateLimits.reset(policy, key)));
}

/** The counters of the network are first, because a machine over its limit must not lock more accounts. */
function countersOf(attempt: PasswordAttempt): UsedCounter[] {
  const { login, accountId, knownBrowser } = attempt;
  if (knownBrowser) return revealedCounters(attempt);
  // Counted for unknown logins too, so that a known one takes no longer.
  const key = accountId ?? `unknown:${nameKey(login)}`;
  return [...revealedCounters(attempt), { policy: 'sign-in:all-names', key }];
}

/** The counters whose limits the response reveals. */
function revealedCounters({ login, address, knownBrowser }: PasswordAttempt): UsedCounter[] {
  return [
    ...networkCounters(address),
    knownBrowser
      ? { policy: 'sign-in:known-browser', key: knownBrowser }
      : { policy: 'sign-in:account', key: nameKey(login), captchaAfter: captchaAfterFailures.account },
  ];
}

/** The counters of an address: for IPv6 also that of its /48 (policies.ts). */
function networkCounters(address: string): UsedCounter[] {
  const { address: captchaAfter } = captchaAfterFailures;
  const site = siteBlock(address);
  const own: UsedCounter = { policy: 'sign-in:address', key: addressBlock(address), captchaAfter };
  const ofSite: UsedCounter = {
    policy: 'sign-in:site',
    key: site,
    captchaAfter: captchaAfter * limits.rateLimits.siteFactor,
  };
  return site.endsWith('/48') ? [own, ofSite] : [own];
}

function counterId({ policy, key }: UsedCounter): string {
  return `${policy} ${key}`;
}

async function currentLocks(counters: AttemptCounters, account: LockableAccount): Promise<Lock[]> {
  const all = accountCounters(account).map(async ({ by, policy, key }) => ({
    by,
    seconds: await counters.waitSeconds(policy, key),
  }));
  return (await Promise.all(all)).filter(({ seconds }) => seconds > 0);
}

/** The counters of an account: one for each of its logins, and the one for all. */
function accountCounters({
  id,
  username,
  email,
}: LockableAccount): { by: LoginKind; policy: PolicyName; key: string }[] {
  const name = nameKey(username);
  const address = email === null ? name : nameKey(email);
  return present([
    { by: 'username', policy: 'sign-in:account', key: name },
    address !== name && { by: 'email', policy: 'sign-in:account', key: address },
    { by: 'all', policy: 'sign-in:all-names', key: id },
  ]);
}
