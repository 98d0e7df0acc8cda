// The frame of a role's pages: its tabs, who manages it, and the applications that it opens.
import type { Context } from '../../http/context.ts';
import { plural } from '../../platform/plural.ts';
import type { Role } from '../../rbac/roles.ts';
import { productPresets } from '../applications/presets/presets.ts';
import type { Block, ConsolePage, Mark } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { FILE_TAG, fileNotice } from '../console/managed-by-file.ts';
import type { OpenedApplication, RoleAdmin } from './actions.ts';

export const READ = 'gatehouse.roles:read' as const;
export const WRITE = 'gatehouse.roles:write' as const;

const TABS = { '': 'Permissions', members: 'Members', applications: 'Applications' } as const;
export type RoleTab = keyof typeof TABS;

export const pathOf = ({ id }: Pick<Role, 'id'>) => `/admin/roles/${id}`;

/** A page of the role on one of its tabs. `configFile`: the path of the configuration file. */
export function roleTabPage(
  role: Role,
  tab: RoleTab,
  { configFile }: { configFile: string | undefined },
  content: Pick<ConsolePage, 'blocks'>,
): ConsolePage {
  const path = pathOf(role);
  return {
    title: role.name,
    ...(role.description && { lead: role.description }),
    back: { href: '/admin/roles', label: 'Roles' },
    tags: tagsOf(role),
    tabs: (Object.keys(TABS) as RoleTab[]).map((one) => ({
      href: one === '' ? path : `${path}/${one}`,
      label: TABS[one],
      isCurrent: one === tab,
    })),
    blocks: [...(tab === '' ? ownerNotice(role, configFile) : []), ...content.blocks],
  };
}

function tagsOf({ source }: Role): (Mark & { icon?: string })[] {
  if (source === 'file') return [FILE_TAG];
  return source === 'built-in' ? [{ text: 'Built in', icon: 'lock' }] : [];
}

function ownerNotice({ source }: Role, configFile: string | undefined): Block[] {
  if (source === 'file') return [fileNotice(configFile, 'role')];
  const text =
    'This role is part of Gatehouse and can’t be changed. Create a role with the permissions that you need instead.';
  return source === 'built-in' ? [{ kind: 'text', tone: 'notice', text }] : [];
}

/** Whether the administrator may change the role itself. */
export async function mayChangeRole(
  { frame, roles }: { frame: Frame; roles: Pick<RoleAdmin, 'assignable'> },
  ctx: Context,
  { source, name }: Role,
): Promise<boolean> {
  if (source !== 'local' || !frame.may(ctx, WRITE)) return false;
  return (await roles.assignable(frame.actor(ctx))).includes(name);
}

/** The applications that accept the role; those that are open to everyone are none of them. */
export function applicationsBlock(role: string, applications: readonly OpenedApplication[], isMore: boolean): Block {
  return {
    kind: 'table',
    lead: 'Members can sign in to these applications because of this role.',
    caption: 'Applications that the role opens',
    columns: ['Application', 'Protocol', 'Status'],
    rows: applications.map(({ id, name, protocol, enabled }) => [
      { text: name, href: `/admin/applications/${id}`, logo: { name } },
      protocol === 'oidc' ? 'OpenID Connect' : 'SAML',
      enabled ? { text: 'Enabled', tone: 'good' as const } : { text: 'Disabled', tone: 'bad' as const },
    ]),
    empty: {
      icon: 'layout-grid',
      title: 'No application requires it',
      text: `${readers(role)}To limit an application to it, select this role on the tab Access of an application. Applications that are open to everyone aren’t listed.`,
      action: { label: 'Applications', href: '/admin/applications' },
    },
    count: isMore
      ? `The first ${plural(applications.length, 'application')}`
      : plural(applications.length, 'application'),
  };
}

/** Products that read the role, and what its members are there. */
function readers(role: string): string {
  return productPresets
    .flatMap(({ title, roles = [] }) => roles.filter(({ name }) => name === role).map((one) => ({ title, ...one })))
    .map(({ title, description }) => `${title} reads this role (${description}). `)
    .join('');
}
