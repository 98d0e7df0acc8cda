// The navigation of the console: the pages that an administrator may open.

import { type PageText, t } from '../../base/texts/text.ts';
import { MOST_COUNTED } from '../../core/rejections/rejections.ts';
import { meets, type Need, type Rights, within } from '../../people/rbac/rights.ts';

interface Entry {
  href: string;
  label: PageText;
  icon: string;
  needs: Need;
  /** Another path that belongs to it. */
  also?: string;
  /** The number beside it. */
  counts?: keyof NavigationCounts;
}

/** The numbers beside entries; none where there is nothing. */
export interface NavigationCounts {
  /** Requests that were rejected in the last 24 hours. */
  rejections: number;
}

/** The icon is a name at lucide.dev, with its key, by which build/styles.mjs finds it. */
const entry = (
  href: string,
  label: PageText,
  { icon }: { icon: string },
  needs: Need,
  more: Partial<Entry> = {},
): Entry => ({
  href,
  label,
  icon,
  needs,
  ...more,
});
const SETTINGS = 'gatehouse.settings:read';
const AUDIT = 'gatehouse.audit:read';

/** The navigation: groups of entries, each with the permission that it needs. */
const GROUPS: readonly { title?: PageText; entries: readonly Entry[] }[] = [
  { entries: [entry('/admin', t('console.navigation.overview'), { icon: 'layout-dashboard' }, AUDIT)] },
  {
    title: t('console.navigation.applications'),
    entries: [
      entry(
        '/admin/applications',
        t('console.navigation.applications'),
        { icon: 'layout-grid' },
        within('gatehouse.applications:read'),
        { also: '/admin/test' },
      ),
      entry('/admin/apis', t('console.navigation.apis'), { icon: 'braces' }, 'gatehouse.applications:read'),
      entry('/admin/connections', t('console.navigation.connections'), { icon: 'plug' }, 'gatehouse.connections:read'),
      entry('/admin/scim', t('console.navigation.scim'), { icon: 'refresh-cw' }, 'gatehouse.connections:read'),
    ],
  },
  {
    title: t('console.navigation.people'),
    entries: [
      entry('/admin/users', t('console.navigation.users'), { icon: 'user-round' }, within('gatehouse.users:read'), {
        also: '/admin/import',
      }),
      entry('/admin/groups', t('console.navigation.groups'), { icon: 'users-round' }, 'gatehouse.groups:read'),
      entry('/admin/roles', t('console.navigation.roles'), { icon: 'shield-check' }, 'gatehouse.roles:read'),
      entry(
        '/admin/sessions',
        t('console.navigation.sessions'),
        { icon: 'monitor-smartphone' },
        within('gatehouse.sessions:read'),
      ),
    ],
  },
  {
    title: t('console.navigation.monitoring'),
    entries: [
      entry('/admin/access-check', t('console.navigation.access-check'), { icon: 'search-check' }, AUDIT),
      entry('/admin/rejections', t('console.navigation.rejected-requests'), { icon: 'circle-x' }, AUDIT, {
        counts: 'rejections',
      }),
      entry('/admin/audit', t('console.navigation.activity-log'), { icon: 'scroll-text' }, within(AUDIT)),
      entry('/admin/event-streams', t('console.navigation.event-streams'), { icon: 'send' }, AUDIT, {
        also: '/admin/deliveries',
      }),
    ],
  },
  {
    title: t('console.navigation.configuration'),
    entries: [
      entry('/admin/security', t('console.navigation.security'), { icon: 'key-round' }, SETTINGS),
      entry('/admin/branding', t('console.navigation.branding'), { icon: 'palette' }, SETTINGS),
      entry('/admin/mail', t('console.navigation.mail'), { icon: 'mail' }, 'gatehouse.mail:read'),
      entry('/admin/api-keys', t('console.navigation.api-keys'), { icon: 'key-square' }, 'gatehouse.api-keys:read'),
      entry('/admin/keys', t('console.navigation.signing-keys'), { icon: 'file-key-2' }, 'gatehouse.keys:read'),
      entry('/admin/settings', t('console.navigation.settings'), { icon: 'settings' }, SETTINGS),
    ],
  },
];
const NAVIGATION = GROUPS.flatMap(({ entries }) => entries);

/** The first page of the console that these rights open. */
export function firstPage(rights: Rights): { href: string; label: PageText } {
  const entry = NAVIGATION.find(({ needs }) => meets(rights, needs));
  return entry ? { href: entry.href, label: entry.label } : { href: '/dashboard', label: t('page.your-apps') };
}

/** The groups and entries that this administrator may open, the current entry marked; a group without entries is left out. */
export function navigationAt(path: string, may: (need: Need) => boolean, counts: NavigationCounts) {
  const isUnder = (entry: string) => path === entry || (entry !== '/admin' && path.startsWith(`${entry}/`));
  return GROUPS.map(({ title, entries }) => ({
    title,
    entries: entries
      .filter(({ needs }) => may(needs))
      .map(({ href, label, icon, also, counts: counted }) => ({
        href,
        label,
        icon,
        ...(counted && counts[counted] > 0 && { badge: badgeOf(counts[counted]) }),
        isCurrent: isUnder(href) || (also !== undefined && isUnder(also)),
      })),
  })).filter(({ entries }) => entries.length > 0);
}

function badgeOf(count: number): { text: PageText; of: PageText } {
  const text =
    count > MOST_COUNTED
      ? t('console.navigation.more', { count: MOST_COUNTED })
      : t('console.shared.number', { value: count });
  return { text, of: t('console.navigation.in-last-day') };
}

/** The chapter of the documentation about the pages from each path on. */
const HELP: Readonly<Record<string, string>> = {
  '/admin': 'first-hour',
  '/admin/access-check': 'console#access-check',
  '/admin/api-keys': 'api#api-keys',
  '/admin/apis': 'configuration#resources',
  '/admin/applications': 'console#an-application',
  '/admin/applications/new': 'first-application',
  '/admin/audit': 'operating#the-audit-log',
  '/admin/branding': 'branding',
  '/admin/branding/texts': 'languages#replace-a-text',
  '/admin/confirm': 'api#fresh-sign-ins',
  '/admin/connections': 'connections#adding-a-connection',
  '/admin/deliveries': 'events',
  '/admin/event-streams': 'events',
  '/admin/groups': 'groups',
  '/admin/import': 'console#importing-users',
  '/admin/keys': 'operating#keys',
  '/admin/mail': 'operating#email',
  '/admin/rejections': 'console#rejected-requests',
  '/admin/result': 'console',
  '/admin/roles': 'roles#permissions-in-gatehouse-itself',
  '/admin/scim': 'scim',
  '/admin/search': 'console',
  '/admin/security': 'accounts#second-factors',
  '/admin/security/passwords': 'configuration#settings',
  '/admin/security/protection': 'security#sign-in',
  '/admin/security/sign-up': 'accounts#sign-up-codes',
  '/admin/security/sign-up-codes': 'accounts#sign-up-codes',
  '/admin/security/two-step': 'accounts#the-first-second-factor',
  '/admin/sessions': 'logout#what-ends-a-session-and-what-stays',
  '/admin/settings': 'configuration#settings',
  '/admin/settings/attributes': 'accounts#profile',
  '/admin/settings/languages': 'languages',
  '/admin/settings/network': 'security#outgoing-calls',
  '/admin/settings/saml': 'saml',
  '/admin/settings/system': 'configuration#environment',
  '/admin/test': 'first-application',
  '/admin/users': 'accounts',
};

/** The chapter, and heading, about the page at this path; undefined outside of the console. */
export function helpAt(path: string): string | undefined {
  const [, chapter] =
    Object.entries(HELP)
      .filter(([from]) => path === from || (from !== '/admin' && path.startsWith(`${from}/`)))
      .sort(([a], [b]) => b.length - a.length)[0] ?? [];
  return chapter && `/docs/${chapter}`;
}

/** The entry that a path belongs to; undefined for none. The overview is its own page only. */
export function entryOf(path: string): { href: string; label: PageText } | undefined {
  const isUnder = (one: string | undefined) => one !== undefined && (path === one || path.startsWith(`${one}/`));
  const entry = NAVIGATION.find(({ href, also }) =>
    href === '/admin' ? path === href : isUnder(href) || isUnder(also),
  );
  return entry && { href: entry.href, label: entry.label };
}
