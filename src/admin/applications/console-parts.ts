// What the pages of applications share: how a registration and its access rule are displayed.
import type { Application } from '../../applications/application.ts';
import { t } from '../../base/texts/text.ts';
import type { Block, Cell } from '../console/blocks.ts';
import { isWithoutPkce } from './tabs/setup-guide.ts';

export const protocolName = { oidc: 'OpenID Connect', saml: 'SAML' } as const;

/** The access rule as the cell of a table. */
export function accessCell({ access }: Application): Cell {
  return access === 'everyone'
    ? t('console.applications.everyone')
    : [...access.roles, ...(access.groups ?? [])].map((text) => ({ text, tone: 'plain' as const }));
}

/** Warns of an application whose requests need no PKCE challenge. */
export function pkceWarning(application: Application): Block[] {
  if (!isWithoutPkce(application)) return [];
  return [{ kind: 'text', tone: 'warning', text: t('console.applications.pkce-warning') }];
}

/** It acts for itself only, so that nobody signs in to it. */
export function isServiceAccount({ protocol, metadata }: Application): boolean {
  return protocol === 'oidc' && metadata.grant_types?.length === 1 && metadata.grant_types[0] === 'client_credentials';
}
