// /admin: how it goes, and what needs somebody.
import Router from '@koa/router';
import type { Extras, State } from '../../http/context.ts';
import type { Attention } from '../attention.ts';
import type { Statistics } from '../statistics.ts';
import { type Block, tallest } from './blocks.ts';
import type { Frame } from './frame.ts';
import type { Names } from './names.ts';

export interface OverviewNeeds {
  frame: Frame;
  names: Names;
  statistics(days: number): Promise<Statistics>;
  attention(): Promise<Attention>;
}

const DAYS = 30;

export function overviewRoutes({ frame, names, statistics, attention }: OverviewNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin' });

  router.get('/', ...frame.page('gatehouse.audit:read'), async (ctx) => {
    const [counted, needed] = await Promise.all([statistics(DAYS), attention()]);
    const applications = await names.applications(counted.byApplication.map(({ clientId }) => clientId));
    const mayOpen = frame.may(ctx, 'gatehouse.applications:read');
    const bars = counted.byApplication.slice(0, 10).map(({ clientId, signIns }) => {
      const application = applications.get(clientId);
      return {
        label: application?.name ?? clientId,
        value: signIns,
        href: application?.id && mayOpen ? `/admin/applications/${application.id}` : undefined,
      };
    });
    frame.show(ctx, {
      title: 'Overview',
      blocks: [
        numbers(counted, needed),
        days(counted),
        {
          kind: 'bars',
          title: 'Sign-ins by application',
          summary: `The last ${DAYS} days.`,
          bars,
          max: tallest(bars),
          empty: 'Nobody has signed in to an application yet.',
        },
        ...attentionBlocks(needed, mayOpen),
      ],
    });
  });

  return router;
}

function numbers({ users, applications, sessions, mail }: Statistics, { locked }: Attention): Block {
  return {
    kind: 'stats',
    items: [
      { label: 'Users', value: users.total, href: '/admin/users' },
      { label: 'With a second factor', value: users.withSecondFactor },
      { label: 'Applications', value: applications.oidc + applications.saml, href: '/admin/applications' },
      { label: 'Live sessions', value: sessions, href: '/admin/sessions' },
      { label: 'Locked out now', value: locked.length, tone: locked.length > 0 ? 'warn' : 'plain' },
      {
        label: 'Mail not sent',
        value: mail.failed,
        tone: mail.failed > 0 ? 'bad' : 'plain',
        ...(mail.failed > 0 && { href: '/admin/mail?state=failed' }),
      },
    ],
  };
}

function days({ days: counted }: Statistics): Block {
  const bars = counted.map(({ day, signIns, failures }) => ({ label: day, value: signIns, bad: failures }));
  const signIns = bars.reduce((all, { value }) => all + value, 0);
  const failures = bars.reduce((all, { bad }) => all + bad, 0);
  const summary = `${signIns} signed in and ${failures} attempts failed in the last ${DAYS} days.`;
  return { kind: 'days', title: 'Sign-ins', summary, bars, max: tallest(bars) };
}

function attentionBlocks({ locked, ending, health }: Attention, mayOpen: boolean): Block[] {
  return [
    {
      kind: 'table',
      title: 'Locked out now',
      caption: 'Accounts that have to wait after wrong passwords',
      columns: ['User', 'Waits another'],
      rows: locked.map(({ id, username, seconds }) => [
        { text: username, href: `/admin/users/${id}` },
        `${Math.ceil(seconds / 60)} min`,
      ]),
      empty: 'Nobody.',
    },
    {
      kind: 'table',
      title: 'Ends soon',
      caption: 'Certificates and secrets that end within 30 days',
      columns: ['What', 'Until'],
      rows: ending.map(({ what, until, applicationId }) => [
        applicationId && mayOpen ? { text: what, href: `/admin/applications/${applicationId}` } : what,
        until,
      ]),
      empty: 'No certificate and no secret ends within 30 days.',
    },
    {
      kind: 'table',
      title: 'Health',
      caption: 'Whether the server is well',
      columns: ['Part', 'State'],
      rows: health.map(({ what, state, text }) => [what, { text, tone: state }]),
      empty: '',
    },
  ];
}
