// The provisioning of applications: its jobs, and what administrators see and decide.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Application } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { notFound } from '../../base/http/errors.ts';
import { fullName } from '../../base/http/pages/tokens.ts';
import { randomId } from '../../base/platform/random.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { BEGIN, createChanges, type Place } from './changes.ts';
import { createScimClients, filterOf, TargetRejected, TargetUnavailable } from './client.ts';
import { createDeliveries } from './deliveries.ts';
import { createDifferences, differenceOf, type Pending } from './differences.ts';
import { createTargets, type Target, type TargetState } from './targets.ts';

/** People that are named of each kind of change. */
const MOST_NAMED = 100;
const MOST_REJECTED = 100;

export type ChangeKind = Exclude<Pending, ''>;

/** What a comparison would do. */
export interface ProvisioningPreview {
  changes: Record<ChangeKind, { count: number; people: PreviewedPerson[] }>;
  unchanged: number;
  /** There are more people than were looked at. */
  isCut: boolean;
}

export interface PreviewedPerson {
  id: string;
  /** Null: the account is deleted. */
  username: string | null;
  name: string | null;
  /** The attributes that change. */
  attributes: readonly string[];
}

/** One call of a connection test. */
export interface ProvisioningCheck {
  check: 'config' | 'users';
  isOk: boolean;
  /** What was wrong, in the words of the application. */
  error?: string;
}

export interface ProvisioningState extends Omit<TargetState, 'url' | 'auditSeq' | 'lookedAt' | 'compareSeconds'> {
  /** Accounts there that are active, people and groups that wait, and leavers that are held. */
  active: number;
  waiting: number;
  held: number;
}

/** Something that the application rejected. */
export interface RejectedObject {
  kind: string;
  id: string;
  /** The username, or the name of the group; null: it is deleted. */
  name: string | null;
  error: string;
  nextTryAt: Date;
}

export type Provisioning = ReturnType<typeof createProvisioning>;

export function createProvisioning(services: Core & People & ApplicationServices) {
  const { db, accounts, applications } = services;
  const clients = createScimClients(services);
  const targets = createTargets(services);
  const differences = createDifferences(services);
  const parts = { ...services, clients, targets, differences };
  const changes = createChanges(parts);
  const deliveries = createDeliveries(parts);

  /** Throws not_found (404) for an application without provisioning. */
  async function targetOf(application: Application): Promise<Target> {
    const target = await targets.find(application);
    if (!target) throw notFound({ message: t('console.provisioning.error.none') });
    return target;
  }

  return {
    jobs: [changes.job, deliveries.job],
    decide: targets.decide,
    beginPaused: targets.beginPaused,

    /** Throws not_found (404). */
    async state(application: Application): Promise<ProvisioningState> {
      const { id, state } = await targetOf(application);
      const { url: _url, auditSeq: _seq, lookedAt: _looked, compareSeconds: _seconds, ...shown } = state;
      return { ...shown, ...(await changes.countsOf(id)) };
    },

    /** What a comparison would do, looking at so many people at most; it writes nothing. Throws not_found (404). */
    async preview(application: Application, most = Number.POSITIVE_INFINITY): Promise<ProvisioningPreview> {
      const target = await targetOf(application);
      const none = () => ({ count: 0, people: [] as PreviewedPerson[] });
      const preview = {
        changes: { create: none(), update: none(), deactivate: none(), delete: none() },
        unchanged: 0,
        isCut: false,
      };
      let compared = 0;
      for (let place: Place | undefined = BEGIN; place; await nextTurn()) {
        const page = await changes.pageAt(target, place);
        place = page.next;
        const [people, rows] = [await accounts.findAll(page.users), await differences.rowsOf(target, page.users)];
        for (const localId of page.users.slice(0, most - compared)) {
          const account = people.find(({ id }) => id === localId);
          const row = rows.find((one) => one.localId === localId);
          const wanted = differences.wantedOf(target, account);
          const { pending, paths } = differenceOf(target, { account, wanted }, row);
          if (pending === '') {
            if (wanted) preview.unchanged += 1;
            continue;
          }
          const change = preview.changes[pending];
          change.count += 1;
          const { username = null } = account ?? {};
          const name = account ? fullName(account) : null;
          if (change.people.length < MOST_NAMED) change.people.push({ id: localId, username, name, attributes: paths });
        }
        compared += page.users.length;
        if (compared >= most) return { ...preview, isCut: true };
      }
      return preview;
    },

    /** What the application rejected, the next to be tried first, at most a hundred. */
    async rejected(application: Application): Promise<RejectedObject[]> {
      const where = { applicationId: application.id, pending: { not: '' }, lastError: { not: null } };
      const rows = await db.provisionedObject.findMany({ where, orderBy: { nextTryAt: 'asc' }, take: MOST_REJECTED });
      const idsOf = (kind: string) => rows.filter((row) => row.kind === kind).map(({ localId }) => localId);
      const people = await db.asStored.user.findMany({
        where: { id: { in: idsOf('user') } },
        select: { id: true, username: true },
      });
      const groups = await db.asStored.group.findMany({
        where: { id: { in: idsOf('group') } },
        select: { id: true, name: true },
      });
      const names = new Map([
        ...people.map(({ id, username }) => [id, username] as const),
        ...groups.map(({ id, name }) => [id, name] as const),
      ]);
      return rows.map(({ kind, localId, lastError, nextTryAt }) => ({
        kind,
        id: localId,
        name: names.get(localId) ?? null,
        error: lastError ?? '',
        nextTryAt,
      }));
    },

    /** Calls it as Entra does when a connection is tested: its configuration, and a search for a name that nobody has. Throws not_found (404). */
    async test(application: Application): Promise<ProvisioningCheck[]> {
      const { id, provision } = await targetOf(application);
      const token = (await applications.provisioningTokens.find(id)) ?? '';
      const scim = clients({ url: provision.url, token });
      const search = `/Users?${filterOf('userName', randomId())}`;
      const check = async (name: ProvisioningCheck['check'], path: string, fits: (answer: object) => boolean) => {
        try {
          const answer = await scim('GET', path);
          return fits(answer)
            ? { check: name, isOk: true }
            : { check: name, isOk: false, error: 'answered without SCIM' };
        } catch (error) {
          if (!(error instanceof TargetRejected || error instanceof TargetUnavailable)) throw error;
          return { check: name, isOk: false, error: error.message };
        }
      };
      return [
        await check('config', '/ServiceProviderConfig', (answer) => 'patch' in answer),
        await check('users', search, (answer) => 'totalResults' in answer || 'Resources' in answer),
      ];
    },
  };
}
