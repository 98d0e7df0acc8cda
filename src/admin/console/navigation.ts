// The navigation of the console: the pages that an administrator may open.
import { AppError } from '../../http/errors.ts';
import { meets, type Need, type Rights, within } from '../../rbac/rights.ts';

interface Entry {
  href: string;
  label: string;
  /** A name at lucide.dev. */
  icon: string;
  needs: Need;
  /** Another path that belongs to it. */
  also?: string;
}

/** The navigation: groups of entries, each with the permission that it needs. */
const GROUPS: readonly { title?: string; entries: readonly Entry[] }[] = [
  { entries: [{ href: '/admin', label: 'Overview', icon: 'layout-dashboard', needs: 'gatehouse.audit:read' }] },
  {
    title: 'Applications',
    entries: [
      {
        href: '/admin/applications',
        label: 'Applications',
        icon: 'layout-grid',
        needs: within('gatehouse.applications:read'),
        also: '/admin/test',
      },
      { href: '/admin/apis', label: 'APIs', icon: 'braces', needs: 'gatehouse.applications:read' },
      { href: '/admin/connections', label: 'Connections', icon: 'plug', needs: 'gatehouse.connections:read' },
    ],
  },
  {
    title: 'People',
    entries: [
      {
        href: '/admin/users',
        label: 'Users',
        icon: 'user-round',
        needs: within('gatehouse.users:read'),
        also: '/admin/import',
      },
      { href: '/admin/roles', label: 'Roles', icon: 'shield-check', needs: 'gatehouse.roles:read' },
      {
        href: '/admin/sessions',
        label: 'Sessions',
        icon: 'monitor-smartphone',
        needs: within('gatehouse.sessions:read'),
      },
    ],
  },
  {
    title: 'Monitoring',
    entries: [
      { href: '/admin/why', label: 'Access check', icon: 'search-check', needs: 'gatehouse.audit:read' },
      { href: '/admin/refusals', label: 'Rejected requests', icon: 'circle-x', needs: 'gatehouse.audit:read' },
      { href: '/admin/audit', label: 'Activity log', icon: 'scroll-text', needs: within('gatehouse.audit:read') },
    ],
  },
  {
    title: 'Configuration',
    entries: [
      {
        href: '/admin/security',
        label: 'Sign-in and security',
        icon: 'key-round',
        needs: 'gatehouse.settings:read',
      },
      { href: '/admin/branding', label: 'Branding', icon: 'palette', needs: 'gatehouse.settings:read' },
      { href: '/admin/mail', label: 'Email', icon: 'mail', needs: 'gatehouse.mail:read' },
      { href: '/admin/api-keys', label: 'API keys', icon: 'key-square', needs: 'gatehouse.api-keys:read' },
      { href: '/admin/keys', label: 'Signing keys', icon: 'file-key-2', needs: 'gatehouse.keys:read' },
      { href: '/admin/settings', label: 'Settings', icon: 'settings', needs: 'gatehouse.settings:read' },
    ],
  },
];
const NAVIGATION = GROUPS.flatMap(({ entries }) => entries);

/** The first page of the console that these rights open. */
export function firstPage(rights: Rights): { href: string; label: string } {
  const entry = NAVIGATION.find(({ needs }) => meets(rights, needs));
  return entry ? { href: entry.href, label: entry.label } : { href: '/dashboard', label: 'Your apps' };
}

/** The groups and entries that this administrator may open, the current entry marked; a group without entries is left out. */
export function navigationAt(path: string, may: (need: Need) => boolean) {
  const isUnder = (entry: string) => path === entry || (entry !== '/admin' && path.startsWith(`${entry}/`));
  return GROUPS.map(({ title, entries }) => ({
    title,
    entries: entries
      .filter(({ needs }) => may(needs))
      .map(({ href, label, icon, also }) => ({
        href,
        label,
        icon,
        isCurrent: isUnder(href) || (also !== undefined && isUnder(also)),
      })),
  })).filter(({ entries }) => entries.length > 0);
}

/** The error page of a missing entry, or of a conflict, links to the list that the entry belongs to. */
export function withLinkToList(error: unknown, path: string): unknown {
  if (!(error instanceof AppError) || ![404, 409].includes(error.status)) return error;
  if (error.next && error.next.href !== '/') return error;
  const { code, message, advice, detail, fields, rejectionCode } = error;
  const list = NAVIGATION.find(({ href, also }) =>
    [href, also].some((one) => one && one !== '/admin' && path.startsWith(`${one}/`)),
  );
  const next = list ? { href: list.href, label: list.label } : { href: '/admin', label: 'Overview' };
  const about = {
    message,
    detail,
    fields,
    cause: error,
    ...(advice && { advice }),
    ...(rejectionCode && { rejectionCode }),
  };
  return new AppError(code, { ...about, next });
}
