// The navigation of the console: the pages that an administrator may open.
import { AppError } from '../../http/errors.ts';
import { meets, type Need, type Rights, within } from '../../rbac/rights.ts';

/** The navigation: each entry with the permission that it needs, and another path that belongs to it. */
const NAVIGATION: readonly { href: string; label: string; needs: Need; also?: string }[] = [
  { href: '/admin', label: 'Overview', needs: 'gatehouse.audit:read' },
  {
    href: '/admin/applications',
    label: 'Applications',
    needs: within('gatehouse.applications:read'),
    also: '/admin/test',
  },
  { href: '/admin/apis', label: 'APIs', needs: 'gatehouse.applications:read' },
  { href: '/admin/connections', label: 'Connections', needs: 'gatehouse.connections:read' },
  { href: '/admin/users', label: 'Users', needs: within('gatehouse.users:read'), also: '/admin/import' },
  { href: '/admin/roles', label: 'Roles', needs: 'gatehouse.roles:read' },
  { href: '/admin/why', label: 'Access check', needs: 'gatehouse.audit:read' },
  { href: '/admin/refusals', label: 'Rejected requests', needs: 'gatehouse.audit:read' },
  { href: '/admin/sessions', label: 'Sessions', needs: within('gatehouse.sessions:read') },
  { href: '/admin/audit', label: 'Audit', needs: within('gatehouse.audit:read') },
  { href: '/admin/keys', label: 'Keys', needs: 'gatehouse.keys:read' },
  { href: '/admin/mail', label: 'Mail', needs: 'gatehouse.mail:read' },
  { href: '/admin/settings', label: 'Settings', needs: 'gatehouse.settings:read' },
];

/** The first page of the console that these rights open. */
export function firstPage(rights: Rights): { href: string; label: string } {
  const entry = NAVIGATION.find(({ needs }) => meets(rights, needs));
  return entry ? { href: entry.href, label: entry.label } : { href: '/dashboard', label: 'Your applications' };
}

/** The entries that this administrator may open, the current one marked. */
export function navigationAt(path: string, may: (need: Need) => boolean) {
  const isUnder = (entry: string) => path === entry || (entry !== '/admin' && path.startsWith(`${entry}/`));
  return NAVIGATION.filter(({ needs }) => may(needs)).map(({ href, label, also }) => ({
    href,
    label,
    isCurrent: isUnder(href) || (also !== undefined && isUnder(also)),
  }));
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
