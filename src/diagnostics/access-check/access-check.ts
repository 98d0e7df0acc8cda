// The access check: whether a person can sign in to an application, or why not and what fixes it; what the application would receive,
// without a sign-in; and the last attempts, each with its exact reason.
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../admin/api/endpoint.ts';
import { createApplicationPreviews } from '../../admin/applications/preview.ts';
import { entryLinks } from '../../admin/console/frame.ts';
import type { RoleOrGroup } from '../../admin/console/new-administrators.ts';
import { quotedPermissions } from '../../admin/console/permission-words.ts';
import type { Application } from '../../applications/application.ts';
import { pathMethods } from '../../applications/fields/proxied-application.ts';
import { type DeclaredEntry, notFound } from '../../base/http/errors.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { fault } from '../../base/texts/faults.ts';
import { concatenated, dotted, type PageLink, type PageText, t } from '../../base/texts/text.ts';
import type { Actor, Audit, AuditEntry } from '../../core/audit/audit.ts';
import type { AuditEventType } from '../../core/audit/events.ts';
import type { Rejection, Rejections } from '../../core/rejections/rejections.ts';
import type { Account } from '../../people/accounts/account.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { rejection, rejectionJson } from '../rejections/explanation.ts';
import { roleInFile } from '../role-in-file.ts';
import type { DiagnosticServices } from '../services.ts';
import { type Check, checkIds, checkStates } from './check.ts';
import { checksOf } from './checks.ts';
import { type AccessFacts, type AskedPage, readFacts } from './facts.ts';
import { type AccessFix, type Offer, offersFor } from './fix-offers.ts';

export interface AccessReport {
  /** The access rule (applications/access-decision.ts), and the path rules where the question is about a page. */
  mayOpen: boolean;
  /** The access rule, and every other check. */
  canSignIn: boolean;
  /** The page is open to everyone, without a sign-in. */
  isPublic: boolean;
  checks: Check[];
}

/** What a question is about: an application, or a page of a website. */
export interface Asked {
  application: Application;
  page?: AskedPage | undefined;
}

/** The longest address of a page that a question may name. */
export const MAX_ADDRESS = 4096;

export type AccessCheck = ReturnType<typeof createAccessCheck>;

/** Reads only, except for the fixes. */
export function createAccessCheck(services: DiagnosticServices) {
  const { db, applications } = services;

  async function reportOf(account: Account, { application, page: asked }: Asked) {
    const facts = await readFacts(services, account, application, asked);
    const checks = checksOf(facts);
    const { page, conditions } = facts;
    const allowed = conditions.every(({ isMet }) => isMet);
    const isPublic = page?.isPublic === true && !page.isAmbiguous;
    const isPageOpen = !page?.isAmbiguous && !page?.broken;
    const mayOpen = isPublic ? application.enabled : allowed && isPageOpen;
    return {
      facts,
      report: {
        mayOpen,
        canSignIn: allowed && checks.every(({ state }) => state !== 'failed'),
        isPublic: isPublic && mayOpen,
        checks,
      },
    };
  }

  /** By id, client_id, entity ID or name. */
  async function findApplication(text: string): Promise<Application | undefined> {
    const byClient = await applications.find(text);
    if (byClient) return byClient;
    const byId = await db.asStored.application.findUnique({ where: { id: text }, select: { id: true } });
    if (byId) return applications.get(text);
    const { applications: found } = await applications.list({ search: text, limit: 2 });
    const exact = found.find(({ name }) => name.toLowerCase() === text.toLowerCase());
    return exact ?? (found.length === 1 ? found[0] : undefined);
  }

  return {
    /** By id, username, email address or full name. */
    findUser: services.findUser,

    /** An application by id, client_id, entity ID or name; a page of a website by its address, as a browser sends it. */
    async findAsked(text: string, method: string): Promise<Asked | undefined> {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const website = url && url.origin !== text ? await applications.find(url.origin) : undefined;
      if (url && website?.protocol === 'proxy')
        return { application: website, page: { address: `${url.origin}${url.pathname}`, method, path: url.pathname } };
      const application = await findApplication(text);
      return application && { application };
    },

    report: async (account: Account, asked: Asked): Promise<AccessReport> => (await reportOf(account, asked)).report,

    /** The report, and what this actor can do about each cause. */
    async diagnose(account: Account, asked: Asked, viewer: Viewer) {
      const { facts, report } = await reportOf(account, asked);
      return { ...report, causes: await causesOf(services, report.checks, facts, viewer) };
    },

    preview: createApplicationPreviews(services),
    attempts: (about: AttemptsQuery): Promise<Attempts> => readAttempts(services, about),
  };
}

// /api/admin/access-check: whether a user may open an application.

const result = z.object({
  user: z.object({ id: z.string(), username: z.string() }),
  application: z.object({ id: z.string(), identifier: z.string(), name: z.string() }),
  page: z
    .object({ method: z.string(), path: z.string() })
    .optional()
    .describe('Of a website, where the question is about one'),
  may_open: z
    .boolean()
    .describe('What the access rule says, from the last known address of the user, and of a page its path rule'),
  can_sign_in: z
    .boolean()
    .describe('The access rule, and everything else that decides: lockout, sign-in methods, two-step verification'),
  rules: z.array(
    z.object({
      id: z.enum(checkIds).describe('Of the check, the same in every language'),
      rule: z.string(),
      met: z.boolean(),
      state: z
        .enum(checkStates)
        .describe(
          '`later`: the user does something at the sign-in. `warning`: it blocks nothing, but may be the cause. `skipped`: it does not apply',
        ),
      explanation: z.string(),
    }),
  ),
  rejections: z.array(rejection).describe('The last ones of this user at this application, newest first'),
});

/** /access-check. */
export function accessCheckEndpoints(accessCheck: AccessCheck): Endpoint[] {
  return [
    endpoint('why', 'GET /access-check', {
      tag: 'Rejections',
      needs: ['gatehouse.audit:read', 'gatehouse.users:read'],
      summary: 'Whether this user may open this application: by which role, or why not',
      query: z.object({
        user: z.string().min(1).max(254).describe('Id, username, email address or full name'),
        application: z
          .string()
          .min(1)
          .max(MAX_ADDRESS)
          .describe('Id, client_id, entity ID or name; or the address of a page of a website, for its path rules'),
        method: z.enum(pathMethods).default('GET').describe('Of the request for the page'),
      }),
      response: result,
      rejects: [[404, 'The user or the application is not known']],
      async handle({ query, by }) {
        const [{ account }, asked] = await Promise.all([
          accessCheck.findUser(query.user, by),
          accessCheck.findAsked(query.application, query.method),
        ]);
        if (!account) throw notKnown('user');
        if (!asked) throw notKnown('application');
        const { application, page } = asked;
        const { id: userId, username } = account;
        const { clientId, name } = application;
        const [{ mayOpen, canSignIn, checks }, attempts] = await Promise.all([
          accessCheck.report(account, asked),
          accessCheck.attempts({ userId, clientId }),
        ]);
        return {
          body: {
            user: { id: userId, username },
            application: { id: application.id, identifier: clientId, name },
            ...(page && { page: { method: page.method, path: page.path } }),
            may_open: mayOpen,
            can_sign_in: canSignIn,
            rules: checks.map(({ id, label, state, explanation }) => ({
              id,
              state,
              rule: String(label),
              met: state !== 'failed',
              explanation: String(explanation),
            })),
            rejections: attempts.rejections.map(rejectionJson),
          },
        };
      },
    }),
  ];
}

function notKnown(field: string) {
  return notFound({ faults: [fault([field], 'not-known')] });
}

// The recent attempts of a person or at an application, for the access check: audit events and rejected requests.

/** Steps before the application is known, so their events name none. */
const STEPS: AuditEventType[] = [
  'sign-in.password',
  'sign-in.passkey',
  'sign-in.upstream',
  'sign-in.second-factor',
  'sign-in.recovery-code',
  'sign-in.throttled',
  'sign-in.unlocked',
  'account.disabled',
  'account.enabled',
];
const AT_APPLICATION: AuditEventType[] = [
  'sign-in.completed',
  'authorization.granted',
  'authorization.rejected',
  'consent.denied',
  'token.rejected',
  'token.revoked',
  'saml.request',
  'saml.response',
];
const MAX_ATTEMPTS = 30;

export interface AttemptsQuery {
  userId?: string | undefined;
  clientId?: string | undefined;
  requestId?: string | undefined;
}

interface Attempts {
  events: AuditEntry[];
  rejections: Rejection[];
}

/** Newest first. With a user and an application: what the user did there, and the steps before. */
async function readAttempts(
  { audit, rejections }: { audit: Audit; rejections: Rejections },
  { userId, clientId, requestId }: AttemptsQuery,
): Promise<Attempts> {
  const about = {
    ...(userId && { subjectId: userId }),
    ...(clientId && { clientId }),
    ...(requestId && { requestId }),
  };
  const types = requestId ? {} : { types: [...STEPS, ...AT_APPLICATION] };
  const [events, steps, stored] = await Promise.all([
    audit.list({ ...about, ...types, limit: MAX_ATTEMPTS }),
    userId && clientId && !requestId
      ? audit.list({ subjectId: userId, types: STEPS, limit: MAX_ATTEMPTS })
      : Promise.resolve([]),
    rejections.list({ ...about, limit: MAX_ATTEMPTS }),
  ]);
  const all = new Map([...events, ...steps].map((event) => [event.id, event]));
  return {
    events: [...all.values()].sort((one, other) => other.id - one.id).slice(0, MAX_ATTEMPTS),
    rejections: stored.rejections,
  };
}

/** A failed check, or one that may be the cause, and what the actor can do about it. */
interface Cause {
  check: Check;
  fixes: AccessFix[];
  links: PageLink[];
  /** Ids of the fixes that the actor may not use. */
  denied: string[];
  /** Why the actor has no button, or what the roles and groups of the buttons are. */
  note?: PageText | undefined;
}

/** Who asks, and which pages of the console the person may open. */
interface Viewer {
  by: Actor;
  mayOpen(permission: OwnPermission): boolean;
}

/** The checks that are not passed, those that block the sign-in first. A fix is offered once, for its first cause. */
async function causesOf(
  services: DiagnosticServices,
  checks: readonly Check[],
  facts: AccessFacts,
  viewer: Viewer,
): Promise<Cause[]> {
  const open = (['failed', 'warning'] as const).flatMap((state) => checks.filter((check) => check.state === state));
  const offered = new Set<string>();
  const isNew = ({ fix }: Offer) => {
    if (!('id' in fix)) return true;
    const isKnown = offered.has(fix.id);
    offered.add(fix.id);
    return !isKnown;
  };
  const causes = open.map((check) => ({ check, offers: offersFor(services, check.id, facts).filter(isNew) }));
  return Promise.all(causes.map(({ check, offers }) => causeOf(services, check, offers, facts, viewer)));
}

/** The cause with the fixes that the actor may use, or a sentence that says what is missing. */
async function causeOf(
  services: DiagnosticServices,
  check: Check,
  offers: readonly Offer[],
  facts: AccessFacts,
  viewer: Viewer,
): Promise<Cause> {
  const judged = await Promise.all(
    offers.map(async (offer) => ({ fix: offer.fix, obstacle: await obstacleTo(services, offer, facts, viewer) })),
  );
  const usable = judged.flatMap(({ fix, obstacle }) => (obstacle ? [] : [fix]));
  const fixes = usable.filter((fix) => 'apply' in fix);
  const links = usable.filter((fix) => 'href' in fix);
  // Without any button that the actor may use, the page says why, also where a link is left.
  const lacksButton = fixes.length === 0 && offers.some(({ fix }) => 'apply' in fix);
  const obstacle =
    usable.length === 0 || lacksButton ? judged.find((one) => one.obstacle !== undefined)?.obstacle : undefined;
  const declared = obstacle?.declared;
  return {
    check,
    fixes,
    links: [...links, ...(declared ? entryLinks(declared, viewer.mayOpen) : [])],
    denied: judged.flatMap((one) => ('id' in one.fix && one.obstacle ? [one.fix.id] : [])),
    note: obstacle?.text ?? (await descriptionsOf(fixes, services)),
  };
}

/** `grafana-editor: Editors in Grafana`, for each that has a description. */
async function descriptionsOf(
  fixes: readonly AccessFix[],
  { admin: { groups, roles } }: DiagnosticServices,
): Promise<PageText | undefined> {
  const given = fixes.flatMap(({ gives }) => gives ?? []);
  if (given.length === 0) return undefined;
  const ofKind = (kind: RoleOrGroup['kind']) => given.flatMap((one) => (one.kind === kind ? [one.name] : []));
  const found = [
    ...(await roles.list()).filter(({ name }) => ofKind('role').includes(name)),
    ...(await groups.findAll(ofKind('group'))),
  ];
  return dotted(
    given.map(({ name }) => {
      const description = found.find((one) => one.name === name)?.description;
      return description ? concatenated([name, ': ', description]) : undefined;
    }),
  );
}

/** To assign a role takes one of these for the user, and the right to manage the role. */
const ASSIGN = ['gatehouse.users:write', 'gatehouse.roles:write'] as const;
/** Why an actor cannot use a fix, with the entry of the configuration file that it would change. */
interface Obstacle {
  text: PageText;
  declared?: DeclaredEntry;
}

const inFile = (kind: DeclaredEntry['kind'], id: string, name: string, text?: PageText): Obstacle => ({
  text: text ?? t('console.access-check.file', { what: name }),
  declared: { kind, id, name },
});

/** Undefined when the actor can use this fix. */
async function obstacleTo(
  { admin: { users, applications, roles, groups } }: DiagnosticServices,
  { needs, fix }: Offer,
  { account, application }: AccessFacts,
  { by, mayOpen }: Viewer,
): Promise<Obstacle | undefined> {
  const action = fix.label;
  const lacks = (anyOf: readonly OwnPermission[], name: string) => ({
    text: t('console.access-check.lacks-permission-for', { action, permission: quotedPermissions(anyOf), name }),
  });
  const mayChangeUser = (anyOf: readonly OwnPermission[]) => users.mayChange(account.id, by, anyOf);
  switch (needs.of) {
    case 'user':
      if (await mayChangeUser(needs.anyOf)) return undefined;
      return lacks(needs.anyOf, displayName(account));
    case 'role':
      if (account.source === 'file')
        return inFile('user', account.id, displayName(account), roleInFile(application, account));
      if ((await roles.assignable(by)).includes(needs.name) && (await mayChangeUser(ASSIGN))) return undefined;
      return { text: t('console.access-check.lacks-role', { role: needs.name, name: displayName(account) }) };
    case 'group': {
      const group = await groups.find(needs.name);
      const mayPut = group ? await groups.assertMayPut(group.id, by).then(() => true, falseIfForbidden) : false;
      if (mayPut) return undefined;
      if (!group) return { text: t('console.access-check.no-group', { group: needs.name }) };
      if (group.source === 'file' && group.fileMembers) return inFile('group', group.id, group.name);
      return { text: t('console.access-check.lacks-group', { group: needs.name, name: displayName(account) }) };
    }
    case 'profile':
      if (account.source === 'file') return inFile('user', account.id, displayName(account));
      if (await mayChangeUser(['gatehouse.users:write'])) return undefined;
      return lacks(['gatehouse.users:write'], displayName(account));
    case 'application':
      if (!(await applications.mayChange(application.id, by)))
        return lacks(['gatehouse.applications:write'], application.name);
      return application.source === 'file' ? inFile('application', application.id, application.name) : undefined;
    case 'settings': {
      const permission = 'gatehouse.settings:write-security';
      if (mayOpen(permission)) return undefined;
      const values = { action, permission: quotedPermissions([permission]) };
      return { text: t('console.access-check.lacks-permission', values) };
    }
  }
}
