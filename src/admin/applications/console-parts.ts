// What the pages of applications share: how a registration and its access rule are displayed.
import type { Application, Protocol } from '../../applications/application.ts';
import type { Access } from '../../applications/fields/oidc-client.ts';
import { ownedByFile } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Block, Cell } from '../console/blocks.ts';
import type { Question, Visit } from '../console/pages.ts';
import type { AdminActions } from '../create-admin.ts';
import { CREATES, type Opening } from './people.ts';
import { isWithoutPkce } from './tabs/setup-guide.ts';

export const protocolName = {
  oidc: 'OpenID Connect',
  saml: 'SAML',
  proxy: t('console.applications.proxy'),
} as const satisfies Record<Protocol, PageText>;

/** The roles and groups that an access rule can name, as far as the administrator may give and see them. */
export async function accessChoices({ by, may }: Visit<unknown>, { roles, groups }: AdminActions) {
  const assignable = await roles.choices(by);
  const listed = may('gatehouse.groups:read') ? (await groups.list({ limit: limits.api.maxPageSize })).groups : [];
  return {
    roles: assignable.map(({ value }) => value),
    roleHints: new Map(assignable.map(({ value, hint }) => [value, hint])),
    groups: listed.map(({ name }) => name),
  };
}

/** What the form of an access rule offers to create. */
export const creatable = ({ may }: Visit<unknown>) => (['role', 'group'] as const).filter((kind) => may(CREATES[kind]));

/** The access rule as the cell of a table. */
export function accessCell({ access }: { access: Access }): Cell {
  return access === 'everyone'
    ? t('console.applications.everyone')
    : [...access.roles, ...(access.groups ?? []).map((group) => t('console.applications.group', { group }))].map(
        (text) => ({ text, tone: 'plain' as const }),
      );
}

/** Warns of an application whose requests need no PKCE challenge. */
export function pkceWarning(application: Application): Block[] {
  if (!isWithoutPkce(application)) return [];
  return [{ kind: 'text', tone: 'warning', text: t('console.applications.pkce-warning') }];
}

/** The roles and groups that the access rule names. */
export const namesOf = ({ access }: Application) =>
  access === 'everyone' ? { role: [], group: [] } : { role: access.roles, group: access.groups ?? [] };
export const isNamed = (application: Application, { kind, name }: Opening) => namesOf(application)[kind].includes(name);

/**
 * What is asked before an application that is open to everyone is opened to a role or group, which are all that the rule names then. Throws
 * owned_by_file where the configuration file declares the rule.
 */
export function restrictionQuestion(application: Application, { kind, name }: Opening): Question | undefined {
  const { access, name: app, source } = application;
  if (source === 'file' && !isNamed(application, { kind, name })) throw ownedByFile('application', application);
  if (access !== 'everyone') return undefined;
  const values = { app, kind, name };
  return {
    title: t('console.people.restrict-title', values),
    lead: t('console.people.restrict-lead', values),
    button: t('console.people.restrict', { kind }),
  };
}
