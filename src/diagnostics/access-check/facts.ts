// What the access check reads about a person and an application, from the parts of the server that decide at a sign-in. It reads only.

import {
  type DemandResult,
  demandResults,
  readsRolesOrGroups,
  receivedOf,
  rolesThatCount,
} from '../../admin/applications/presets/demands.ts';
import { productOf } from '../../admin/applications/presets/presets.ts';
import { describeRegistrationFault, type RegistrationFault } from '../../admin/applications/preview.ts';
import { type DisabledBy, disabledBy } from '../../admin/users/disabled-by.ts';
import { accessDecisionConditions } from '../../applications/access-decision.ts';
import type { Application } from '../../applications/application.ts';
import { hasKeyFor } from '../../applications/fields/client-keys.ts';
import { usesSecret } from '../../applications/fields/oidc-client.ts';
import type { PathRule } from '../../applications/fields/proxied-application.ts';
import { groupsThatAdmit, groupsToChoose } from '../../applications/groups-to-choose.ts';
import { signingUses } from '../../applications/oidc-rules.ts';
import { type Resource, resourcesOf } from '../../applications/resources.ts';
import { acceptsSignIn, type SignInRule, signInRulesOf } from '../../applications/rules/sign-in-rule.ts';
import { inNetworks } from '../../base/network/networks.ts';
import type { AuditEntry } from '../../core/audit/audit.ts';
import type { InvitationView } from '../../core/mail/link-tokens.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import { FederationError } from '../../federation/faults.ts';
import type { AccountRejection } from '../../federation/ldap/identity.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { OwnFactors } from '../../people/mfa/account-factors.ts';
import { acrOfRule } from '../../people/mfa/acr.ts';
import type { Lock } from '../../people/rate-limits/lockout.ts';
import { addressBlock, siteBlock } from '../../people/rate-limits/policies.ts';
import { brokenRule, isAmbiguous, rulesFor } from '../../protocols/forward-auth/path-rules.ts';
import { engineScope } from '../../protocols/oidc/claims/scopes.ts';
import type { MissingForNameId } from '../../protocols/saml/messages/name-id.ts';
import { metadataEnd } from '../../protocols/saml/metadata/service-providers.ts';
import type { SignInRequirements } from '../../sign-in/sign-in-policy.ts';
import type { DiagnosticServices } from '../services.ts';

export interface AccessFacts {
  account: Account;
  application: Application;
  /** Each condition of the access rule. */
  conditions: ReturnType<typeof accessDecisionConditions>;
  /** Who disabled the account, as far as the audit log says it, and when. */
  disabled: DisabledBy | undefined;
  /** The last one; accepted, or none, where the person has a way to sign in. */
  invitation: InvitationView | undefined;
  locks: Lock[];
  /** How long the person waits after wrong codes of the second step. */
  codeWaitSeconds: number;
  password: { mustChange: boolean; changedAt: Date } | undefined;
  factors: OwnFactors;
  /** What the sign-in policy demands after the first factor. */
  requirements: SignInRequirements;
  /** What it demands after that, where a second factor is proven and does not suffice, such as a passkey that is not set up yet. */
  afterFactor: SignInRequirements | undefined;
  /** Which ways to sign in the application accepts; undefined: all. */
  rule: SignInRule | undefined;
  /** The connection at which alone the users of this domain sign in, and whether the application accepts it. */
  required: { id: string; name: string; isAccepted: boolean } | undefined;
  /** Names of enabled connections that the application accepts: those that the person is linked to, and those on the sign-in page. */
  linked: string[];
  offered: string[];
  /** What the product demands of the person beyond the access rule. */
  product: ProductFacts | undefined;
  /** What each directory that the person is linked to says about the person now. */
  directories: DirectoryState[];
  /** How many passwords were wrong since the last right one, or since the account was unlocked. */
  wrongPasswords: number;
  /** The network of the last attempt. */
  network: { address: string; isDenied: boolean; waitSeconds: number } | undefined;
  /** When the metadata of a service provider is used no more, if it has an end. */
  metadataEndsAt: Date | undefined;
  /** What is wrong with the registration, where the engine rejects it. */
  registration: RegistrationFault | undefined;
  /** Whether the scopes include openid; `alone`: without it the application can get access tokens only. */
  openid: 'included' | 'missing' | 'alone';
  /** The signatures of the client for which its set has no key; undefined where it signs nothing, or its keys are behind a URL. */
  unsignable: { use: 'authentication' | 'requests'; alg: string | undefined }[] | undefined;
  /** What is missing for the NameID that a request without wishes gets. */
  missingForNameId: MissingForNameId | undefined;
  /** The assertion has to be encrypted, and cannot be. */
  cannotEncrypt: boolean;
  /** Whether the client authenticates with a secret, and has a valid one. */
  secrets: 'unused' | 'valid' | 'missing';
  /** Of an application that asks for a group: the names of those that it offers. */
  groupChoices: string[] | undefined;
  /** The names of the groups that would admit the person. */
  admittingGroups: string[];
  /** The APIs of the application that are not open to everyone. */
  apis: Resource[];
  /** Where the question is about a page of a website. */
  page: PageFacts | undefined;
  now: Date;
}

/** A page of a website, and the path rules that decide about it (protocols/forward-auth/path-rules.ts). */
export interface PageFacts extends AskedPage {
  isAmbiguous: boolean;
  rules: PathRule[];
  /** Without a sign-in. */
  isPublic: boolean;
  /** The rule that closes it to the person. */
  broken: PathRule | undefined;
}

export interface AskedPage {
  address: string;
  method: string;
  path: string;
}

export interface ProductFacts {
  title: string;
  results: DemandResult[];
  /** The names of the person's roles, or groups, as the application receives them. */
  receivedRoles: readonly string[];
  /** The roles, or groups, of this server that the product knows as its own. */
  roles: string[];
  of: 'role' | 'group';
}
export type DirectoryState = { name: string } & (
  | { outcome: 'found'; rejection: AccountRejection | undefined; waitSeconds: number }
  | { outcome: 'gone' }
  | { outcome: 'unreachable'; error: string }
);

const RECENT = 20;

export async function readFacts(
  services: DiagnosticServices,
  account: Account,
  application: Application,
  asked?: AskedPage,
): Promise<AccessFacts> {
  const { now, audit, credentials, lockout, rateLimits } = services;
  const { factors: ofAccount } = services.mfa;
  const { mfa, signInRule: rule } = signInRulesOf(application.metadata);
  const [locks, codes, password, factors, ways, recent] = await Promise.all([
    lockout.locks(account),
    rateLimits.peek('code:account', account.id),
    credentials.status(account.id),
    ofAccount.of(account.id),
    waysOf(services, account, rule),
    audit.list({
      subjectId: account.id,
      types: ['sign-in.password', 'sign-in.completed', 'sign-in.second-factor', 'sign-in.unlocked'],
      limit: RECENT,
    }),
  ]);
  const page = asked && pageFactsOf(account, application, asked);
  const isLocal = isLocalAccepted({ required: ways.required, rule });
  const hasPassword = isLocal && password !== undefined;
  const hasPasskey = isLocal && factors.verifyingPasskeys > 0;
  const firstFactor = hasPasskey ? ['hwk', 'user'] : ['fed'];
  const amr = services.signInPolicy.amrOf(hasPassword ? ['pwd'] : firstFactor);
  const demanded = (proven: string[]) =>
    services.signInPolicy.requirementsOf(account, {
      amr: proven,
      ownAmr: proven.filter((one) => one !== 'fed'),
      hasOwnPassword: hasPassword,
      requestedAcr: requestedAcr(application, page),
      demandsMailedCode: false,
      application: mfa,
      isOwnPages: false,
      isTrustedBrowser: false,
    });
  const network = await networkOf(services, recent);
  const requirements = await demanded(amr);
  const afterFactor = await afterSecondFactor(requirements, (proven) =>
    demanded(services.signInPolicy.amrOf([...amr, ...proven])),
  );
  return {
    account,
    application,
    invitation: (await services.registration.invitations.statesOf([account.id])).get(account.id),
    locks,
    password,
    factors,
    requirements,
    afterFactor,
    rule,
    ...ways,
    page,
    now: now(),
    conditions: accessDecisionConditions(application, account, network?.address),
    disabled: await disabledBy(services, account),
    product: productFactsOf(account, application),
    directories: await directoriesOf(services, account, rule),
    codeWaitSeconds: codes.retryAfterSeconds,
    wrongPasswords: wrongInARow(recent),
    network,
    metadataEndsAt: application.protocol === 'saml' ? metadataEnd(application.metadata)?.endsAt : undefined,
    secrets: await secretsOf(services, application),
    ...(await registrationFactsOf(services, account, application)),
    openid: openidOf(application),
    apis: await closedApisOf(services, application),
    groupChoices: await groupChoicesOf(services, account, application),
    admittingGroups: await groupsThatAdmit(application, account, services.db),
    unsignable: unsignableOf(application),
  };
}

/** Whether a password or passkey of this server is accepted. */
export function isLocalAccepted({ required, rule }: Pick<AccessFacts, 'required' | 'rule'>): boolean {
  return required === undefined && rule?.isLocalAllowed !== false;
}

function pageFactsOf(account: Account, application: Application, asked: AskedPage): PageFacts | undefined {
  if (application.protocol !== 'proxy') return undefined;
  const { paths } = application.metadata;
  const rules = rulesFor(paths, asked.method, asked.path);
  return {
    ...asked,
    isAmbiguous: paths.length > 0 && isAmbiguous(asked.path),
    rules: rules.filter((one) => one !== undefined),
    isPublic: rules.every((one) => one?.rule === 'public'),
    broken: brokenRule(rules, account),
  };
}

/** What the request for the sign-in asks for. */
function requestedAcr({ protocol, metadata }: Application, page: PageFacts | undefined): string[] {
  if (page?.rules.some(({ rule }) => rule === 'mfa')) return [acrOfRule('mfa')];
  return protocol === 'oidc' ? (metadata.default_acr_values ?? []) : [];
}

function productFactsOf(account: Account, application: Application): ProductFacts | undefined {
  const product = productOf(application);
  if (!product?.demands) return undefined;
  const { metadata } = application;
  const person = receivedOf(account, application, product);
  const roles = rolesThatCount(product, metadata);
  const results = demandResults(product, person);
  return { title: product.title, results, receivedRoles: person.roles, roles, of: readsRolesOrGroups(product) };
}

const PROVEN_BY: Record<string, string> = {
  totp: 'otp',
  email: 'email',
  sms: 'sms',
  'recovery-code': 'recovery',
  passkey: 'hwk',
};

/** What is missing after the first of the demanded factors; undefined when that ends the sign-in. */
async function afterSecondFactor(
  { missing, methods, lacked, level }: SignInRequirements,
  demanded: (proven: string[]) => Promise<SignInRequirements>,
): Promise<SignInRequirements | undefined> {
  const [first] = methods;
  if (missing !== 'second-factor' || first === undefined || (lacked === level && first !== 'email')) return undefined;
  const next = await demanded([PROVEN_BY[first] ?? first]);
  return next.missing === 'nothing' && next.lacked === undefined ? undefined : next;
}

/** The connections at which the person can sign in to an application with this rule. */
async function waysOf(
  { connections, identities, federation: { signIns: upstream } }: DiagnosticServices,
  account: Account,
  rule: SignInRule | undefined,
): Promise<Pick<AccessFacts, 'required' | 'linked' | 'offered'>> {
  const [enabled, linked, required] = await Promise.all([
    connections.enabled(),
    identities.ofUser(account.id),
    upstream.requiredConnection(account),
  ]);
  const accepted = enabled.filter(({ id }) => acceptsSignIn(rule, id));
  const names = (some: readonly Connection[]) => some.map(({ name }) => name);
  return {
    required: required && { ...required, isAccepted: acceptsSignIn(rule, required.id) },
    linked: names(accepted.filter(({ id }) => linked.some(({ connectionId }) => connectionId === id))),
    offered: names(accepted.filter(({ settings }) => !settings.link_only)),
  };
}

/** Asks the directories that the person is linked to. */
async function directoriesOf(
  { connections, directory, directoryBudget, identities }: DiagnosticServices,
  { id }: Account,
  rule: SignInRule | undefined,
): Promise<DirectoryState[]> {
  const enabled = await connections.enabled();
  const linked = await identities.ofUser(id);
  const states = linked.map(async ({ connectionId, subject }): Promise<DirectoryState[]> => {
    const connection = enabled.find((one) => one.id === connectionId);
    if (connection?.kind !== 'ldap' || !acceptsSignIn(rule, connectionId)) return [];
    const { name } = connection;
    try {
      const found = await directory.findAgain(connection, subject);
      if (!found) return [{ name, outcome: 'gone' }];
      const account = { key: `${connectionId} ${subject}`, ...found.lockout };
      const waitSeconds = await directoryBudget.waitSeconds(account);
      return [{ name, outcome: 'found', rejection: found.rejection, waitSeconds }];
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      return [{ name, outcome: 'unreachable', error: error.received ?? error.reason }];
    }
  });
  return (await Promise.all(states)).flat();
}

function wrongInARow(recent: readonly AuditEntry[]): number {
  const attempts = recent.filter(({ type }) => type !== 'sign-in.second-factor');
  const lastRight = attempts.findIndex(({ outcome }) => outcome === 'success');
  const since = lastRight < 0 ? attempts : attempts.slice(0, lastRight);
  return since.filter(({ reason }) => reason === 'wrong_password' || reason === 'too_many_tries').length;
}

async function networkOf(
  { rateLimits, settings, storageBudget }: DiagnosticServices,
  recent: readonly AuditEntry[],
): Promise<AccessFacts['network']> {
  const address = recent.find((one) => one.address !== null)?.address;
  if (!address) return undefined;
  const failures = await Promise.all([
    rateLimits.peek('sign-in:address', addressBlock(address)),
    rateLimits.peek('sign-in:site', siteBlock(address)),
  ]);
  const waits = failures.map(({ retryAfterSeconds }) => retryAfterSeconds);
  const waitSeconds = Math.max(...waits, storageBudget.peek(address).retryAfterSeconds);
  return { address, isDenied: inNetworks(settings.latest().denied_networks)(address), waitSeconds };
}

async function groupChoicesOf({ db }: DiagnosticServices, account: Account, application: Application) {
  if (application.protocol !== 'oidc' || application.metadata.ask_group !== true) return undefined;
  return (await groupsToChoose(application, account, db)).map(({ name }) => name);
}

async function closedApisOf({ db }: DiagnosticServices, { metadata }: Application): Promise<Resource[]> {
  const { resources = [] } = 'resources' in metadata ? metadata : {};
  const rows = await db.resource.findMany({ where: { identifier: { in: resources }, access: { not: 'everyone' } } });
  return resourcesOf(rows, db);
}

async function secretsOf(
  { applications }: DiagnosticServices,
  application: Application,
): Promise<AccessFacts['secrets']> {
  if (application.protocol !== 'oidc' || !usesSecret(application.metadata)) return 'unused';
  return (await applications.unexpiredSecrets(application.id)).length > 0 ? 'valid' : 'missing';
}

/** What is wrong with the registration, for everyone or for this account. */
async function registrationFactsOf(
  { oidc: { registrationFaultOf }, saml: { previews: assertionPreviews } }: DiagnosticServices,
  account: Account,
  application: Application,
): Promise<Pick<AccessFacts, 'registration' | 'missingForNameId' | 'cannotEncrypt'>> {
  const met = { registration: undefined, missingForNameId: undefined, cannotEncrypt: false };
  if (application.protocol === 'oidc') {
    const reason = await registrationFaultOf(application.clientId);
    return reason === undefined ? met : { ...met, registration: describeRegistrationFault(application, reason) };
  }
  if (application.protocol === 'proxy') return met;
  const preview = await assertionPreviews(account, application);
  if ('invalid' in preview) return { ...met, registration: { text: preview.invalid, tab: 'settings' } };
  return { ...met, missingForNameId: preview.missing, cannotEncrypt: preview.cannotEncrypt };
}

/** OpenID Connect Core 3.1.2.1: without `openid` a request signs nobody in. The engine always allows it beside scopes of APIs alone. */
function openidOf({ protocol, metadata }: Application): AccessFacts['openid'] {
  if (protocol !== 'oidc' || metadata.scope === undefined) return 'included';
  const scopes = engineScope(metadata.scope).split(' ');
  if (scopes.includes('openid')) return 'included';
  return scopes.every((one) => one === 'offline_access') ? 'alone' : 'missing';
}

function unsignableOf({ protocol, metadata }: Application): AccessFacts['unsignable'] {
  if (protocol !== 'oidc' || metadata.jwks === undefined) return undefined;
  const { jwks } = metadata;
  const uses = signingUses(metadata);
  if (uses.length === 0) return undefined;
  return uses
    .filter(({ algs }) => !hasKeyFor(jwks, algs))
    .map(({ use, algs }) => ({ use, alg: algs.length === 1 ? algs[0] : undefined }));
}
