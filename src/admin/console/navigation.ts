// The navigation of the console: the pages that an administrator may open.

import { type PageText, t } from '../../base/texts/text.ts';
import { MOST_COUNTED } from '../../core/rejections/rejections.ts';
import { meets, type Need, type Rights, within } from '../../people/rbac/rights.ts';

interface Entry {
  href: string;
  label: PageText;
  /** A name at lucide.dev. */
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

/** The navigation: groups of entries, each with the permission that it needs. */
const GROUPS: readonly { title?: PageText; entries: readonly Entry[] }[] = [
  {
    entries: [
      {
        href: '/admin',
        label: t('console.navigation.overview'),
        icon: 'layout-dashboard',
        needs: 'gatehouse.audit:read',
      },
    ],
  },
  {
    title: t('console.navigation.applications'),
    entries: [
      {
        href: '/admin/applications',
        label: t('console.navigation.applications'),
        icon: 'layout-grid',
        needs: within('gatehouse.applications:read'),
        also: '/admin/test',
      },
      {
        href: '/admin/apis',
        label: t('console.navigation.apis'),
        icon: 'braces',
        needs: 'gatehouse.applications:read',
      },
      {
        href: '/admin/connections',
        label: t('console.navigation.connections'),
        icon: 'plug',
        needs: 'gatehouse.connections:read',
      },
    ],
  },
  {
    title: t('console.navigation.people'),
    entries: [
      {
        href: '/admin/users',
        label: t('console.navigation.users'),
        icon: 'user-round',
        needs: within('gatehouse.users:read'),
        also: '/admin/import',
      },
      {
        href: '/admin/groups',
        label: t('console.navigation.groups'),
        icon: 'users-round',
        needs: 'gatehouse.groups:read',
      },
      {
        href: '/admin/roles',
        label: t('console.navigation.roles'),
        icon: 'shield-check',
        needs: 'gatehouse.roles:read',
      },
      {
        href: '/admin/sessions',
        label: t('console.navigation.sessions'),
        icon: 'monitor-smartphone',
        needs: within('gatehouse.sessions:read'),
      },
    ],
  },
  {
    title: t('console.navigation.monitoring'),
    entries: [
      {
        href: '/admin/access-check',
        label: t('console.navigation.access-check'),
        icon: 'search-check',
        needs: 'gatehouse.audit:read',
      },
      {
        href: '/admin/rejections',
        label: t('console.navigation.rejected-requests'),
        icon: 'circle-x',
        needs: 'gatehouse.audit:read',
        counts: 'rejections',
      },
      {
        href: '/admin/audit',
        label: t('console.navigation.activity-log'),
        icon: 'scroll-text',
        needs: within('gatehouse.audit:read'),
      },
    ],
  },
  {
    title: t('console.navigation.configuration'),
    entries: [
      {
        href: '/admin/security',
        label: t('console.navigation.security'),
        icon: 'key-round',
        needs: 'gatehouse.settings:read',
      },
      {
        href: '/admin/branding',
        label: t('console.navigation.branding'),
        icon: 'palette',
        needs: 'gatehouse.settings:read',
      },
      { href: '/admin/mail', label: t('console.navigation.mail'), icon: 'mail', needs: 'gatehouse.mail:read' },
      {
        href: '/admin/api-keys',
        label: t('console.navigation.api-keys'),
        icon: 'key-square',
        needs: 'gatehouse.api-keys:read',
      },
      {
        href: '/admin/keys',
        label: t('console.navigation.signing-keys'),
        icon: 'file-key-2',
        needs: 'gatehouse.keys:read',
      },
      {
        href: '/admin/settings',
        label: t('console.navigation.settings'),
        icon: 'settings',
        needs: 'gatehouse.settings:read',
      },
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
