// What the pages of applications share: their dependencies, and how a registration and its access rule are displayed.
import type { Application } from '../../applications/application.ts';
import type { ApplicationPictures } from '../../applications/pictures/pictures.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { t } from '../../base/texts/text.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { Authority } from '../../people/rbac/authority.ts';
import type { ConnectionAdmin } from '../connections/actions.ts';
import type { Block, Cell } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import type { Names } from '../console/names.ts';
import type { ResourceAdmin } from '../resources/resources.ts';
import type { RoleAdmin } from '../roles/roles.ts';
import type { FindTypedUser } from '../suggestions/typed-user.ts';
import type { ApplicationAdmin } from './actions.ts';
import type { IdentityProvider } from './presets/parts.ts';
import type { ApplicationPreviews } from './preview.ts';
import { isWithoutPkce } from './tabs/setup-guide.ts';
import type { ApplicationUsage } from './usage.ts';

export interface ApplicationPagesDependencies {
  frame: Frame;
  applications: ApplicationAdmin;
  pictures: Pick<ApplicationPictures, 'addressesOf' | 'state'>;
  roles: RoleAdmin;
  connections: Pick<ConnectionAdmin, 'list'>;
  resources: ResourceAdmin;
  findUser: FindTypedUser;
  audit: Audit;
  authority: Authority;
  names: Names;
  usage: ApplicationUsage;
  preview: ApplicationPreviews;
  now: Clock;
  /** The path of the configuration file. */
  configFile: string | undefined;
  /** What an application has to know of this server. */
  identityProvider(): Omit<IdentityProvider, 'clientId' | 'clientSecret'>;
}

export const protocolName = { oidc: 'OpenID Connect', saml: 'SAML' } as const;

/** The access rule as the cell of a table. */
export function accessCell({ access }: Pick<Application, 'access'>): Cell {
  return access === 'everyone'
    ? t('console.applications.everyone')
    : access.roles.map((role) => ({ text: role, tone: 'plain' as const }));
}

/** Warns of an application whose requests need no PKCE challenge. */
export function pkceWarning(application: Application): Block[] {
  if (!isWithoutPkce(application)) return [];
  return [{ kind: 'text', tone: 'warning', text: t('console.applications.pkce-warning') }];
}
