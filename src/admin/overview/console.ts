// /admin: statistics, and what an administrator should look at.
import Router from '@koa/router';
import type { Extras, State } from '../../http/context.ts';
import type { Clock } from '../../platform/clock.ts';
import { plural, timeInWords } from '../../platform/plural.ts';
import { FIRST_PARTY_CLIENT_ID } from '../../rp/first-party-client.ts';
import { type Block, maxBarValue } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import type { Names } from '../console/names.ts';
import { createFirstSteps, type FirstStepsDependencies } from './first-steps.ts';
import type { Statistics } from './statistics.ts';

export interface Warnings {
  locked: { id: string; username: string; seconds: number }[];
  /** Users whose first second factor needs an approval. */
  waiting: { id: string; username: string; requestedAt: Date }[];
  /** Certificates and secrets, the soonest first; those that have ended are among them. */
  ending: { what: string; until: Date; applicationId?: string; connectionId?: string }[];
  health: { what: string; state: 'good' | 'warn' | 'bad'; text: string }[];
}

export interface OverviewDependencies extends FirstStepsDependencies {
  frame: Frame;
  names: Names;
  now: Clock;
  statistics(days: number): Promise<Statistics>;
  warnings(): Promise<Warnings>;
}

const DAYS = 30;

/** The page /admin. */
export function overviewRoutes({
  frame,
  names,
  now,
  statistics,
  warnings,
  ...dependencies
}: OverviewDependencies): Router<State, Extras> {
  const firstSteps = createFirstSteps(dependencies);
  const router = new Router<State, Extras>({ prefix: '/admin' });

  router.get('/', ...frame.page(), async (ctx) => {
    if (!frame.may(ctx, 'gatehouse.audit:read')) return frame.redirect(ctx, frame.firstPage(ctx));
    const [counted, warned] = await Promise.all([statistics(DAYS), warnings()]);
    const applications = await names.applications(counted.byApplication.map(({ clientId }) => clientId));
    const mayOpen = frame.may(ctx, 'gatehouse.applications:read');
    const bars = counted.byApplication.slice(0, 10).map(({ clientId, signIns }) => {
      const application = applications.get(clientId);
      return {
        label: application?.name ?? (clientId === FIRST_PARTY_CLIENT_ID ? 'Gatehouse' : clientId),
        value: signIns,
        href: application?.id && mayOpen ? `/admin/applications/${application.id}` : undefined,
      };
    });
    const steps = await firstSteps(frame.account(ctx).id, counted, (need) => frame.meets(ctx, need));
    frame.show(ctx, {
      title: 'Overview',
      lead: `Sign-ins in the last ${plural(DAYS, 'day')}, and what needs your attention.`,
      blocks: [
        ...steps,
        numbers(counted, warned),
        days(counted, now()),
        {
          kind: 'bars',
          title: 'Sign-ins by application',
          summary: `Last ${plural(DAYS, 'day')}.`,
          bars,
          max: maxBarValue(bars),
          empty: 'No sign-ins yet.',
        },
      ],
      aside: warningBlocks(warned, {
        mayOpen,
        mayOpenConnections: frame.may(ctx, 'gatehouse.connections:read'),
        mayUnlock: frame.may(ctx, 'gatehouse.users:unlock'),
      }),
    });
  });

  return router;
}

function numbers({ users, applications, sessions, mail }: Statistics, { locked }: Warnings): Block {
  return {
    kind: 'stats',
    items: [
      { label: 'Users', value: users.total, href: '/admin/users' },
      { label: 'Two-step verification', value: users.withSecondFactor },
      { label: 'Applications', value: applications.oidc + applications.saml, href: '/admin/applications' },
      { label: 'Live sessions', value: sessions, href: '/admin/sessions' },
      {
        ...{ label: 'Locked now', value: locked.length, tone: locked.length > 0 ? 'warn' : 'plain' },
        ...(locked.length > 0 && { href: '/admin/users?state=locked' }),
      },
      {
        label: 'Unsent email',
        value: mail.failed,
        tone: mail.failed > 0 ? 'bad' : 'plain',
        ...(mail.failed > 0 && { href: '/admin/mail?state=failed' }),
      },
    ],
  };
}

function days({ at, days: counted }: Statistics, today: Date): Block {
  const bars = counted.map(({ day, signIns, failures }) => ({ label: day, value: signIns, bad: failures }));
  const signIns = bars.reduce((all, { value }) => all + value, 0);
  const failures = bars.reduce((all, { bad }) => all + bad, 0);
  const minutes = Math.round((today.getTime() - at.getTime()) / 60_000);
  const age = minutes < 1 ? '' : ` Counted ${plural(minutes, 'minute')} ago, like all numbers above.`;
  const summary = `${plural(signIns, 'sign-in')} and ${plural(failures, 'failed attempt')} in the last ${plural(DAYS, 'day')}.${age}`;
  return { kind: 'days', title: 'Sign-ins', summary, bars, max: maxBarValue(bars) };
}

/** Users who cannot sign in before an administrator allows their first second factor. */
function waitingBlock(waiting: Warnings['waiting']): Block[] {
  if (waiting.length === 0) return [];
  return [
    {
      kind: 'table',
      title: 'Waiting for approval',
      caption: 'Users who need an administrator’s approval to set up two-step verification',
      columns: ['User', 'Since'],
      rows: waiting.map(({ id, username, requestedAt }) => [
        { text: username, href: `/admin/users/${id}`, logo: { name: username, isPerson: true } },
        requestedAt,
      ]),
      empty: '',
    },
  ];
}

function warningBlocks(
  { locked, waiting, ending, health }: Warnings,
  { mayOpen, mayOpenConnections, mayUnlock }: { mayOpen: boolean; mayOpenConnections: boolean; mayUnlock: boolean },
): Block[] {
  return [
    {
      kind: 'table',
      title: 'Locked now',
      caption: 'Accounts that are locked after wrong passwords',
      columns: ['User', 'Locked for', ...(mayUnlock ? ['Action'] : [])],
      rows: locked.map(({ id, username, seconds }) => [
        { text: username, href: `/admin/users/${id}`, logo: { name: username, isPerson: true } },
        timeInWords(seconds),
        ...(mayUnlock ? [{ action: { label: 'Unlock', of: username, post: `/admin/users/${id}/unlock` } }] : []),
      ]),
      empty: 'No locked accounts.',
    },
    ...waitingBlock(waiting),
    {
      kind: 'table',
      title: 'Expires soon',
      caption: 'Certificates and secrets that expire within 30 days',
      columns: ['What', 'Until'],
      rows: ending.map(({ what, until, applicationId, connectionId }) => [
        applicationId && mayOpen
          ? { text: what, href: `/admin/applications/${applicationId}` }
          : connectionId && mayOpenConnections
            ? { text: what, href: `/admin/connections/${connectionId}` }
            : what,
        until,
      ]),
      empty: 'No certificates or secrets expire within 30 days.',
    },
    {
      kind: 'table',
      title: 'Health',
      caption: 'State of the server’s parts',
      columns: ['Part', 'State'],
      rows: health.map(({ what, state, text }) => [what, { text, tone: state }]),
      empty: '',
    },
  ];
}
