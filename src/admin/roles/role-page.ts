// The frame of a role's pages: its tabs, who manages it, and the applications that it opens.
import type { Context } from '../../base/http/context.ts';
import { sentences, type Text, t } from '../../base/texts/text.ts';
import { type Need, within } from '../../people/rbac/rights.ts';
import { descriptionOf, type Role } from '../../people/rbac/role.ts';
import { productPresets } from '../applications/presets/presets.ts';
import type { Block, ConsolePage, Mark } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { FILE_TAG, fileNotice } from '../console/managed-by-file.ts';
import type { OpenedApplication, RoleAdmin } from './actions.ts';

export const READ = 'gatehouse.roles:read' as const;
export const WRITE = 'gatehouse.roles:write' as const;

const TABS = {
  '': t('console.roles.permissions'),
  members: t('console.roles.members'),
  applications: t('console.roles.applications'),
} as const;
export type RoleTab = keyof typeof TABS;

export const pathOf = ({ id }: Pick<Role, 'id'>) => `/admin/roles/${id}`;

/** What each tab needs beside the right to read roles. */
const tabNeeds: Partial<Record<RoleTab, Need>> = {
  members: within('gatehouse.users:read'),
  applications: 'gatehouse.applications:read',
};

/** Whether the administrator may read what is on the tab. The page of another one says so, and has no tab. */
export function isOpenTab({ frame }: { frame: Frame }, ctx: Context, tab: RoleTab): boolean {
  const need = tabNeeds[tab];
  return need === undefined || frame.meets(ctx, need);
}

/** A page of the role on one of its tabs. `configFile`: the path of the configuration file. */
export function roleTabPage(
  role: Role,
  tab: RoleTab,
  ctx: Context,
  { frame, configFile }: { frame: Frame; configFile: string | undefined },
  content: Pick<ConsolePage, 'blocks'>,
): ConsolePage {
  const open = (Object.keys(TABS) as RoleTab[]).filter((one) => isOpenTab({ frame }, ctx, one));
  const path = pathOf(role);
  return {
    title: role.name,
    ...(role.description && { lead: descriptionOf(role) }),
    back: { href: '/admin/roles', label: t('console.roles.title') },
    tags: tagsOf(role),
    tabs: open.map((one) => ({
      href: one === '' ? path : `${path}/${one}`,
      label: TABS[one],
      isCurrent: one === tab,
    })),
    blocks: [...(tab === '' ? ownerNotice(role, configFile) : []), ...content.blocks],
  };
}

function tagsOf({ source }: Role): (Mark & { icon?: string })[] {
  if (source === 'file') return [FILE_TAG];
  return source === 'built-in' ? [{ text: t('console.roles.built-in'), icon: 'lock' }] : [];
}

function ownerNotice({ source }: Role, configFile: string | undefined): Block[] {
  if (source === 'file') return [fileNotice(configFile, 'role')];
  const text = t('console.roles.built-in-notice');
  return source === 'built-in' ? [{ kind: 'text', tone: 'notice', text }] : [];
}

/** Whether the administrator may change the role itself. */
export async function mayChangeRole(
  { frame, roles }: { frame: Frame; roles: RoleAdmin },
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
    lead: t('console.roles.applications-lead'),
    caption: t('console.roles.applications-caption'),
    columns: [t('console.roles.application'), t('console.roles.protocol'), t('console.shared.status')],
    rows: applications.map(({ id, name, protocol, enabled }) => [
      { text: name, href: `/admin/applications/${id}`, logo: { name } },
      protocol === 'oidc' ? 'OpenID Connect' : 'SAML',
      enabled
        ? { text: t('console.shared.enabled'), tone: 'good' as const }
        : { text: t('console.shared.disabled'), tone: 'bad' as const },
    ]),
    empty: {
      icon: 'layout-grid',
      title: t('console.roles.no-applications'),
      text: sentences([...readers(role), t('console.roles.no-applications-text')]),
      action: { label: t('console.roles.applications'), href: '/admin/applications' },
    },
    count: t('console.roles.application-count', { count: applications.length, more: isMore ? 'yes' : 'no' }),
  };
}

/** Products that read the role, and what its members are there. */
function readers(role: string): Text[] {
  return productPresets
    .flatMap(({ title, roles = [] }) => roles.filter(({ name }) => name === role).map((one) => ({ title, ...one })))
    .map(({ title, description }) => t('console.roles.read-by', { title, description }));
}
