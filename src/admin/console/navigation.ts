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

/** @param icon a name at lucide.dev */
const entry = (href: string, label: PageText, icon: string, needs: Need, more: Partial<Entry> = {}): Entry => ({
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
  { entries: [entry('/admin', t('console.navigation.overview'), 'layout-dashboard', AUDIT)] },
  {
    title: t('console.navigation.applications'),
    entries: [
      entry(
        '/admin/applications',
        t('console.navigation.applications'),
        'layout-grid',
        within('gatehouse.applications:read'),
        { also: '/admin/test' },
      ),
      entry('/admin/apis', t('console.navigation.apis'), 'braces', 'gatehouse.applications:read'),
      entry('/admin/connections', t('console.navigation.connections'), 'plug', 'gatehouse.connections:read'),
    ],
  },
  {
    title: t('console.navigation.people'),
    entries: [
      entry('/admin/users', t('console.navigation.users'), 'user-round', within('gatehouse.users:read'), {
        also: '/admin/import',
      }),
      entry('/admin/groups', t('console.navigation.groups'), 'users-round', 'gatehouse.groups:read'),
      entry('/admin/roles', t('console.navigation.roles'), 'shield-check', 'gatehouse.roles:read'),
      entry(
        '/admin/sessions',
        t('console.navigation.sessions'),
        'monitor-smartphone',
        within('gatehouse.sessions:read'),
      ),
    ],
  },
  {
    title: t('console.navigation.monitoring'),
    entries: [
      entry('/admin/access-check', t('console.navigation.access-check'), 'search-check', AUDIT),
      entry('/admin/rejections', t('console.navigation.rejected-requests'), 'circle-x', AUDIT, {
        counts: 'rejections',
      }),
      entry('/admin/audit', t('console.navigation.activity-log'), 'scroll-text', within(AUDIT)),
    ],
  },
  {
    title: t('console.navigation.configuration'),
    entries: [
      entry('/admin/security', t('console.navigation.security'), 'key-round', SETTINGS),
      entry('/admin/branding', t('console.navigation.branding'), 'palette', SETTINGS),
      entry('/admin/mail', t('console.navigation.mail'), 'mail', 'gatehouse.mail:read'),
      entry('/admin/api-keys', t('console.navigation.api-keys'), 'key-square', 'gatehouse.api-keys:read'),
      entry('/admin/keys', t('console.navigation.signing-keys'), 'file-key-2', 'gatehouse.keys:read'),
      entry('/admin/settings', t('console.navigation.settings'), 'settings', SETTINGS),
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

/** The entry that a path belongs to; undefined for none. The overview is its own page only. */
export function entryOf(path: string): { href: string; label: PageText } | undefined {
  const isUnder = (one: string | undefined) => one !== undefined && (path === one || path.startsWith(`${one}/`));
  const entry = NAVIGATION.find(({ href, also }) =>
    href === '/admin' ? path === href : isUnder(href) || isUnder(also),
  );
  return entry && { href: entry.href, label: entry.label };
}
