// The checks of the access check in words, in the order of a sign-in. Each says what another part of the server decides
// (facts.ts); the access rule itself is applications/access-decision.ts. Pure.

import { directoryRejectionTexts } from '../../admin/connections/console-try.ts';
import { disabledSentence } from '../../admin/users/disabled-by.ts';
import { type AccessRejection, grantingGroups, grantingRoles } from '../../applications/access-decision.ts';
import { type Access, signsUsersIn } from '../../applications/fields/oidc-client.ts';
import type { PathRule } from '../../applications/fields/proxied-application.ts';
import type { Resource } from '../../applications/resources.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { waitText } from '../../base/texts/dates.ts';
import { allOf, listOf, oneOf, type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import { networkSentence } from '../../federation/connections/network-sentences.ts';
import type { Account, AccountGroup } from '../../people/accounts/account.ts';
import { MFA_ACR, PHISHING_RESISTANT_ACR } from '../../people/mfa/acr.ts';
import { type Check, check, failed, later, passed, type Result, skipped, warning } from './check.ts';
import { type AccessFacts, type DirectoryState, isLocalAccepted, type ProductFacts } from './facts.ts';

/** Every check; those that cannot apply to the application's protocol are left out. */
export function checksOf(facts: AccessFacts): Check[] {
  const isOidc = facts.application.protocol === 'oidc';
  return [
    ...facts.conditions.map(({ rejection, isMet }) => ofCondition(rejection, isMet, facts)),
    ...pathChecks(facts),
    ...registrationChecks(facts),
    ...facts.apis.map((api) => ofApi(api, facts)),
    ...(facts.groupChoices ? [ofGroupChoice(facts.groupChoices, facts)] : []),
    ...(isOidc ? [check('grant', t('console.access-check.label.grant'), grant(facts))] : []),
    check('method', t('console.access-check.label.method'), method(facts)),
    check('password', t('console.access-check.label.password'), password(facts)),
    ...facts.directories.map((state) =>
      check('directory', t('console.access-check.label.directory'), ofDirectory(state, facts)),
    ),
    check('lockout', t('console.access-check.label.lockout'), lockout(facts)),
    check('factor', t('console.access-check.label.factor'), factor(facts)),
    ...(facts.codeWaitSeconds > 0 ? [check('codes', t('console.access-check.label.codes'), codes(facts))] : []),
    ...(facts.product ? productChecks(facts, facts.product) : []),
    check('network', t('console.access-check.label.network'), network(facts)),
    ...(facts.secrets === 'unused' ? [] : [check('secret', t('console.access-check.label.secret'), secret(facts))]),
    ...(facts.metadataEndsAt
      ? [check('metadata', t('console.access-check.label.metadata'), metadata(facts, facts.metadataEndsAt))]
      : []),
  ];
}

/** A condition of the access rule. */
function ofCondition(rejection: AccessRejection, isMet: boolean, facts: AccessFacts): Check {
  const { application, account } = facts;
  switch (rejection) {
    case 'application_disabled': {
      const sentence = t('console.access-check.application-disabled', { app: application.name });
      return check(rejection, t('console.access-check.label.application'), isMet ? passed() : failed(sentence));
    }
    case 'account_disabled':
      return check(rejection, t('console.access-check.label.account'), isMet ? passed() : inactive(facts));
    case 'no_role':
      return check(rejection, t('console.access-check.label.role'), ofAccess(application, account));
    case 'other_network':
      return check(rejection, t('console.access-check.label.allowed-networks'), allowedNetworks(isMet, facts));
  }
}

function inactive({ account, disabled }: AccessFacts): Result {
  const { state, activeFrom, activeUntil, createdAt } = account;
  const at = (state === 'waiting' ? activeFrom : activeUntil) ?? createdAt;
  return failed(
    sentences([
      t('console.access-check.account-inactive', { who: displayName(account), state, at }),
      ...(disabled ? [disabledSentence(disabled)] : []),
    ]),
  );
}

/** The path rules of a website: which of them decides about the page. */
function pathChecks({ account, application, page }: AccessFacts): Check[] {
  if (application.protocol !== 'proxy') return [];
  const only = (result: Result): Check[] => [check('path', t('console.access-check.label.path'), result)];
  const app = application.name;
  if (!page) {
    const hasRules = application.metadata.paths.length > 0;
    return hasRules ? only(skipped(t('console.access-check.path-not-asked', { app }))) : [];
  }
  const { method, path, rules, broken } = page;
  if (page.isAmbiguous) return only(failed(t('console.access-check.path-ambiguous', { app, path })));
  if (rules.length === 0) return only(skipped(t('console.access-check.path-without-rule', { method, path })));
  // Where websites read a path in several ways, each rule must be met.
  const deciding = broken ? [broken] : rules;
  const found = deciding.map((one) => ofPathRule(one, account));
  const names = allOf(deciding.map((one) => one.path));
  const text = sentences([
    t('console.access-check.path-rule', { method, path, rules: names, count: deciding.length }),
    ...found.map(({ explanation }) => explanation),
  ]);
  return only(broken ? failed(text) : passed(text));
}

function ofPathRule({ path, rule }: PathRule, account: Account): Result {
  if (rule === 'public') return passed(t('console.access-check.path-public', { path }));
  if (rule === 'mfa') return passed(t('console.access-check.path-mfa', { path }));
  if (rule.roles.length + rule.groups.length === 0) return failed(t('console.access-check.path-for-nobody', { path }));
  return ofAccess({ name: path, access: rule }, account);
}

/** The access rule of an application, or of an API. */
function ofAccess({ name: app, access }: { name: string; access: Access }, account: Account): Result {
  const who = displayName(account);
  if (access === 'everyone') return skipped(t('console.access-check.open', { app }));
  const roles = grantingRoles(access, account);
  if (roles.length > 0) return passed(t('console.access-check.has-role', { who, roles: listOf(roles) }));
  const groups = grantingGroups(access, account);
  if (groups.length > 0) return passed(sentences(groups.map((group) => membershipText(who, group))));
  if (access.roles.length + (access.groups?.length ?? 0) === 0)
    return failed(t('console.access-check.no-role-named', { app }));
  const ofRoles =
    account.roles.length > 0
      ? t('console.access-check.has', { who, roles: listOf(account.roles) })
      : t('console.access-check.has-none', { who });
  const ofGroups =
    account.groups.length > 0
      ? t('console.access-check.in-groups', { who, groups: listOf(account.groups.map(({ name }) => name)) })
      : t('console.access-check.in-none', { who });
  const { roles: wanted, groups: wantedGroups = [] } = access;
  const has = [...(wanted.length > 0 ? [ofRoles] : []), ...(wantedGroups.length > 0 ? [ofGroups] : [])];
  return failed(sentences([requiredText(app, wanted, wantedGroups), ...has]));
}

const membershipText = (who: string, { name, isDirect, via, until }: AccountGroup) =>
  t('console.access-check.in-group', {
    who,
    group: name,
    via,
    until: until ?? new Date(0),
    form: `${isDirect ? 'direct' : 'via'}${until ? 'until' : ''}`,
  });

/** The step "Continue as". */
function ofGroupChoice(choices: readonly string[], { account, application }: AccessFacts): Check {
  const about = { who: displayName(account), app: application.name };
  const result =
    choices.length > 0
      ? passed(t('console.access-check.group-choices', { ...about, groups: oneOf(choices) }))
      : failed(t('console.access-check.no-group-choice', about));
  return check('group', t('console.access-check.label.group'), result);
}

/** An API that is closed to the person: the application gets no token for it, but need not ask for one. */
function ofApi(api: Resource, { account }: AccessFacts): Check {
  const label = t('console.access-check.label.api', { api: api.identifier });
  const result = ofAccess({ name: api.identifier, access: api.access }, account);
  return check('api_access', label, result.state === 'failed' ? warning(result.explanation) : result);
}

function requiredText(app: string, roles: readonly string[], groups: readonly string[]) {
  if (groups.length === 0) return t('console.access-check.requires-role', { app, roles: oneOf(roles) });
  if (roles.length === 0) return t('console.access-check.requires-group', { app, groups: oneOf(groups) });
  return t('console.access-check.requires-either', { app, roles: oneOf(roles), groups: oneOf(groups) });
}

type Demanded = ProductFacts['results'][number];

/** What the product demands, as its guide sets it up. */
function productChecks(
  { account }: AccessFacts,
  { title: app, results, receivedRoles, roles, of }: ProductFacts,
): Check[] {
  const who = displayName(account);
  const roleOutcome = (state: Demanded['state'], withheld: PageText | undefined): Result => {
    const end = state === 'rejected' ? failed : warning;
    if (withheld) return end(withheld);
    if (state === 'met') return passed(t('console.access-check.receives-roles', { app, roles: listOf(receivedRoles) }));
    if (state === 'other-roles')
      return warning(t('console.access-check.other-roles', { app, who, roles: listOf(receivedRoles) }));
    if (roles.length === 0) return end(t('console.access-check.no-role-counts', { app, of }));
    const needed = { app, who, of, roles: oneOf(roles) };
    return state === 'rejected'
      ? failed(t('console.access-check.product-rejects', needed))
      : warning(t('console.access-check.no-rights-there', needed));
  };
  return results.map(({ demand, state, scope }): Check => {
    const withheld = scope && t('console.access-check.scope-withheld', { app, scope, end: state });
    const metOr = (sentence: PageText) => (state === 'met' ? passed() : failed(sentence));
    switch (demand) {
      case 'address': {
        const label = t('console.access-check.label.email');
        return check('email', label, metOr(withheld ?? t('console.access-check.no-email', { who, app })));
      }
      case 'verified': {
        const label = t('console.access-check.label.verified-email');
        return check('verified-email', label, metOr(t('console.access-check.unverified-email', { who, app })));
      }
      default: {
        const label = t('console.access-check.label.product-role', { app, of });
        return check('product-role', label, roleOutcome(state, withheld));
      }
    }
  });
}

/** Judged for the last known address of the person. */
function allowedNetworks(isMet: boolean, { account, application, network }: AccessFacts): Result {
  const networks = application.metadata.allowed_networks;
  const app = application.name;
  if (!networks) return skipped(t('console.access-check.every-network', { app }));
  const only = t('console.access-check.only-networks', { app, networks: oneOf(networks) });
  if (!network) return later(only);
  const from = t('console.access-check.last-address', { who: displayName(account), address: network.address });
  return isMet ? passed(sentences([only, from])) : failed(sentences([only, from]));
}

function grant({ application }: AccessFacts): Result {
  if (application.protocol !== 'oidc') return passed();
  if (signsUsersIn(application.metadata)) return passed();
  return failed(t('console.access-check.no-grant', { app: application.name }));
}

function method(facts: AccessFacts): Result {
  const { account, application, required, linked, offered } = facts;
  const who = displayName(account);
  if (required) {
    const only = t('console.access-check.only', { who, connection: required.name });
    if (required.isAccepted) return passed(only);
    const connection = required.name;
    return failed(sentences([only, t('console.access-check.not-accepted', { app: application.name, connection })]));
  }
  const ways = [...(isLocalAccepted(facts) ? localWays(facts) : []), ...linked];
  if (ways.length > 0) return passed(t('console.access-check.can-use', { who, ways: oneOf(ways) }));
  if (offered.length > 0) {
    const first = sentences([
      t('console.access-check.not-linked', { who, connections: oneOf(offered) }),
      ...invitationSentence(facts),
    ]);
    return isLocalAccepted(facts) ? later(first) : later(sentences([noLocal(facts), first]));
  }
  const none = sentences([t('console.access-check.no-way', { who }), ...invitationSentence(facts)]);
  if (isLocalAccepted(facts)) return failed(none);
  return failed(localWays(facts).length > 0 ? noLocal(facts) : sentences([noLocal(facts), none]));
}

/** What became of an invitation that was not accepted. */
function invitationSentence({ account, invitation }: AccessFacts): Text[] {
  if (!invitation || invitation.state === 'accepted') return [];
  const { state, sentAt: at } = invitation;
  return [t('console.access-check.invitation', { who: displayName(account), state, at })];
}

const noLocal = ({ application }: AccessFacts) => t('console.access-check.no-local', { app: application.name });

/** The ways in which the person signs in without a connection. */
export function localWays({ password: stored, factors }: AccessFacts): PageText[] {
  return [
    ...(stored ? [t('console.access-check.way.password')] : []),
    ...(factors.verifyingPasskeys > 0 ? [t('console.access-check.way.passkey')] : []),
  ];
}

function password(facts: AccessFacts): Result {
  const { account, password: stored, requirements, wrongPasswords } = facts;
  if (!isLocalAccepted(facts)) return skipped(t('console.access-check.password-unused'));
  if (!stored) return skipped(t('console.access-check.no-password', { who: displayName(account) }));
  const who = displayName(account);
  const next = requirements.mustChangePassword ? [newPassword(who, stored)] : [];
  if (wrongPasswords > 0) {
    const wrong = t('console.access-check.wrong-passwords', { count: wrongPasswords, who });
    return warning(sentences([wrong, ...next]));
  }
  if (next.length > 0) return later(sentences(next));
  return passed(t('console.access-check.password-changed', { at: stored.changedAt }));
}

/** A stored password that isn't known to be long may be long all the same: the next sign-in measures it. */
function newPassword(who: string, { mustChange }: NonNullable<AccessFacts['password']>): Text {
  if (mustChange) return t('console.access-check.new-password', { who });
  return t('console.access-check.new-password-if-short', { who, count: limits.password.minWithoutMfa });
}

/** A directory that is not the only way to sign in blocks nothing. */
function ofDirectory(state: DirectoryState, facts: AccessFacts): Result {
  const values = { directory: state.name, who: displayName(facts.account) };
  const isOnly = facts.linked.length === 1 && (!isLocalAccepted(facts) || localWays(facts).length === 0);
  const result = isOnly ? failed : warning;
  if (state.outcome === 'gone') return result(t('console.access-check.directory-gone', values));
  if (state.outcome === 'unreachable') {
    const error = networkSentence(state.error) ?? state.error;
    return result(t('console.access-check.directory-unreachable', { ...values, error }));
  }
  if (state.rejection) return result(directoryRejectionTexts[state.rejection]);
  if (state.waitSeconds > 0)
    return warning(t('console.access-check.directory-waits', { ...values, time: waitText(state.waitSeconds) }));
  return passed(t('console.access-check.directory-allows', values));
}

/** A passkey or a connection signs in all the same. */
function lockout(facts: AccessFacts): Result {
  const { locks, account, password: stored, factors, linked, offered, required } = facts;
  if (locks.length === 0) return passed();
  if (!stored) return skipped(t('console.access-check.no-password', { who: displayName(account) }));
  const isElsewhere = required?.isAccepted === true || (!isLocalAccepted(facts) && offered.length > 0);
  const hasOtherWay = isElsewhere || linked.length > 0 || factors.verifyingPasskeys > 0;
  const by = {
    username: t('console.access-check.locked-username', { username: account.username }),
    email: t('console.access-check.locked-email', { email: account.email ?? '' }),
    all: t('console.access-check.locked-all'),
  };
  const under = locks.some((one) => one.by !== 'all') ? locks.filter((one) => one.by !== 'all') : locks;
  const wait = waitText(Math.max(...locks.map(({ seconds }) => seconds)));
  const names = allOf(under.map((one) => by[one.by]));
  return (hasOtherWay ? warning : failed)(t('console.access-check.locked', { names, time: wait }));
}

function codes({ codeWaitSeconds, account }: AccessFacts): Result {
  return failed(
    t('console.access-check.too-many-codes', { who: displayName(account), time: waitText(codeWaitSeconds) }),
  );
}

const FACTOR_NAMES: Record<string, Text> = {
  totp: t('console.access-check.way.totp'),
  passkey: t('console.access-check.way.second-passkey'),
  email: t('console.access-check.way.email'),
  sms: t('console.access-check.way.sms'),
  'recovery-code': t('console.access-check.way.recovery-code'),
};

function factor(facts: AccessFacts): Result {
  const { account, application, requirements, afterFactor, required } = facts;
  const who = displayName(account);
  const { missing, level, lacked } = requirements;
  const names = factorNames(requirements);
  const connection = required?.name;
  const noFirst = t('console.access-check.needs-approval', { who });
  const tooWeak = (acr: string) =>
    warning(t('console.access-check.too-weak', { app: application.name, level: levelOf(acr), who }));
  if (missing === 'second-factor') {
    if (afterFactor?.missing === 'enrolment') return later(thenAdds(facts, names, afterFactor));
    if (afterFactor?.missing === 'approval') return failed(noFirst);
    if (afterFactor?.lacked) return tooWeak(afterFactor.lacked);
    return passed(
      connection === undefined
        ? t('console.access-check.confirms', { who, ways: names })
        : t('console.access-check.confirms-unless', { who, ways: names, connection }),
    );
  }
  if (missing === 'enrolment')
    return later(
      connection === undefined
        ? t('console.access-check.sets-up', { who, ways: names })
        : t('console.access-check.sets-up-unless', { who, ways: names, connection }),
    );
  if (missing === 'approval') return failed(noFirst);
  if (lacked) return tooWeak(lacked);
  // Before the second step, only a passkey reaches this.
  if (level === MFA_ACR || level === PHISHING_RESISTANT_ACR)
    return passed(t('console.access-check.by-passkey', { who }));
  return skipped(t('console.access-check.no-factor-needed', { app: application.name, who }));
}

const factorNames = ({ methods }: AccessFacts['requirements']) => oneOf(methods.map((one) => FACTOR_NAMES[one] ?? one));

/** A second step that proves less than what is needed. */
function thenAdds(
  { account, application, required }: AccessFacts,
  ways: Text,
  after: NonNullable<AccessFacts['afterFactor']>,
): Text {
  const values = {
    who: displayName(account),
    ways,
    more: factorNames(after),
    app: application.name,
    by: application.metadata.mfa === undefined ? 'sign-in' : 'app',
    level: levelOf(after.level),
  };
  return required
    ? t('console.access-check.then-adds-unless', { ...values, connection: required.name })
    : t('console.access-check.then-adds', values);
}

const levelOf = (level: string) => (level === PHISHING_RESISTANT_ACR ? 'phr' : 'mfa');

function network({ network: used, account }: AccessFacts): Result {
  if (!used) return skipped(t('console.access-check.no-network', { who: displayName(account) }));
  const { address, isDenied, waitSeconds } = used;
  if (isDenied) return failed(t('console.access-check.network-blocked', { address, who: displayName(account) }));
  if (waitSeconds > 0) return failed(t('console.access-check.network-waits', { address, time: waitText(waitSeconds) }));
  return passed(t('console.access-check.last-from', { address }));
}

function secret({ application, secrets }: AccessFacts): Result {
  if (secrets === 'valid') return passed();
  return failed(t('console.access-check.no-secret', { app: application.name }));
}

function metadata({ application, now }: AccessFacts, endsAt: Date): Result {
  if (endsAt > now) return passed(t('console.access-check.metadata-until', { at: endsAt }));
  return failed(t('console.access-check.metadata-expired', { app: application.name, at: endsAt }));
}

// The checks of the registration itself: with a fault in it nobody can sign in. Pure.

/** Those that apply to the application. */
function registrationChecks(facts: AccessFacts): Check[] {
  const { application, registration, unsignable } = facts;
  // A website has neither scopes nor keys.
  if (application.protocol === 'proxy') return [];
  const complete = check(
    'registration',
    t('console.access-check.label.registration'),
    registration ? failed(registration.text) : passed(),
  );
  if (application.protocol === 'saml') {
    const sentence = t('console.access-check.no-encryption', { app: application.name });
    return [
      complete,
      check('name-id', t('console.access-check.label.name-id'), nameId(facts)),
      ...(facts.cannotEncrypt
        ? [check('encryption', t('console.access-check.label.encryption'), failed(sentence))]
        : []),
    ];
  }
  return [
    complete,
    check('openid', t('console.access-check.label.openid'), openid(facts)),
    ...(unsignable ? [check('key', t('console.access-check.label.key'), key(facts, unsignable))] : []),
  ];
}

/** OpenID Connect Core 3.1.2.1. An OAuth 2.0 client for APIs needs no `openid`. */
function openid({ application, openid: state }: AccessFacts): Result {
  if (state === 'included') return passed();
  const sentence = t('console.access-check.no-openid', { app: application.name });
  return state === 'alone' ? warning(sentence) : failed(sentence);
}

/** SAML Core 8.3: what the NameID is made of. A request may ask for another format, and for AllowCreate. */
function nameId({ application, account, missingForNameId: missing }: AccessFacts): Result {
  const values = { app: application.name, who: displayName(account) };
  if (missing === 'allow-create') return warning(t('console.access-check.no-allow-create', values));
  if (missing === undefined) return passed();
  return failed(
    account.email === null
      ? t('console.access-check.name-id-no-email', values)
      : t('console.access-check.name-id-unverified', values),
  );
}

/** Request objects may be left out unless the registration demands signed ones (RFC 9101 10.5). */
function key({ application }: AccessFacts, unsignable: NonNullable<AccessFacts['unsignable']>): Result {
  const [first] = unsignable;
  if (!first) return passed();
  const isNeeded =
    first.use === 'authentication' ||
    (application.protocol === 'oidc' && application.metadata.require_signed_request_object === true);
  const values = { app: application.name, use: first.use, alg: first.alg ?? 'none' };
  const sentence = t('console.access-check.no-key', values);
  return isNeeded ? failed(sentence) : warning(sentence);
}
