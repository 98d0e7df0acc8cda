// Exports the database in the format of the configuration file, without secrets. Applied to an empty server it gives the
// same settings, applications, roles and users, with the same `sub`.

import { Document } from 'yaml';
import { accessOf } from '../applications/application.ts';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Access } from '../applications/fields/oidc-client.ts';
import type { Core } from '../core/core.ts';
import type { FederationServices } from '../federation/federation-services.ts';
import type { People } from '../people/people.ts';
import { isGenuineRole } from '../people/rbac/protected-grants.ts';
import type { Role } from '../people/rbac/roles.ts';
import type { EventStreams } from '../protocols/event-streams/streams.ts';
import type { ScimConnections } from '../protocols/scim/connections.ts';
import { entrySections } from './schema.ts';
import { applicationEntry } from './sections/applications.ts';
import { exportConnections } from './sections/connections.ts';
import { exportEventStreams } from './sections/event-streams.ts';
import { exportGroups } from './sections/groups.ts';
import { exportResources } from './sections/resources.ts';
import { exportRoles } from './sections/roles.ts';
import { exportScim } from './sections/scim.ts';
import { exportSettings, type SavePicture } from './sections/settings.ts';
import { exportSignUpCodes } from './sections/sign-up-codes.ts';
import { exportUsers } from './sections/users.ts';

type ExportedServices = Core &
  People &
  ApplicationServices &
  FederationServices & { scimConnections: ScimConnections; eventStreams: EventStreams };

const HEADER = ` Exported from Gatehouse without secrets: client secrets, secrets of connections, passwords, sign-up
 codes, SCIM tokens and TOTP secrets. Add client_secret, code, token, and password (or password_hash) before you apply this file to
 another server.`;

export const exportedSections = ['settings', ...entrySections] as const;

/** What of the database is exported; all of it by default. */
interface ExportOptions {
  /** Only these sections. */
  only?: readonly string[];
  /** False: neither the users, nor who is in a group and owns it. */
  withUsers?: boolean;
  /** Stores a picture of the brand, and returns what the file says instead of its content. */
  savePicture?: SavePicture;
}

/** The configuration as YAML. */
export async function exportConfiguration(services: ExportedServices, options?: ExportOptions): Promise<string> {
  // Applications with the same metadata share one object (applications/application.ts); the file repeats it.
  const document = new Document(await exportedConfiguration(services, options), { aliasDuplicateObjects: false });
  document.commentBefore = HEADER;
  return document.toString({ lineWidth: 0 });
}

/** The configuration as plain values. */
export async function exportedConfiguration(
  services: ExportedServices,
  { only = exportedSections, withUsers = true, savePicture }: ExportOptions = {},
): Promise<Record<string, unknown>> {
  const { db, applications } = services;
  const roles: Role[] = [];
  for (const role of await services.roles.list()) if (await isGenuineRole(role, db)) roles.push(role);
  const known = new Set(roles.map(({ name }) => name));
  const users = withUsers ? await exportUsers(services, known) : [];
  const usernames = withUsers ? new Set(users.map(({ username }) => username)) : undefined;
  const groups = await exportGroups(services, { roles: known, users: usernames });
  const names = new Set(groups.map(({ name }) => name));
  const knownIn = (access: Access) => withKnownNames(access, known, names);
  // A client with a metadata document comes back by itself.
  const declarable = (await applications.allGenuine()).filter(({ source }) => source !== 'document');
  const all = declarable.map((one) => ({ ...one, access: knownIn(one.access) }));
  const content = {
    settings: await exportSettings(services, savePicture),
    resources: await exportResources(services, knownIn),
    clients: all.filter(({ protocol }) => protocol === 'oidc').map(applicationEntry),
    service_providers: all.filter(({ protocol }) => protocol === 'saml').map(applicationEntry),
    proxied_applications: all.filter(({ protocol }) => protocol === 'proxy').map(applicationEntry),
    roles: await exportRoles(roles, services.db),
    groups,
    connections: await exportConnections(services),
    users,
    sign_up_codes: await exportSignUpCodes(services),
    scim: await exportScim(services),
    event_streams: await exportEventStreams(services),
  };
  const isExported = (section: string, part: object) => only.includes(section) && Object.keys(part).length > 0;
  return Object.fromEntries(Object.entries(content).filter(([section, part]) => isExported(section, part)));
}

/** An access rule without the roles and groups that another program wrote: it becomes stricter. */
function withKnownNames(access: Access, roles: ReadonlySet<string>, groups: ReadonlySet<string>): Access {
  if (access === 'everyone') return access;
  return accessOf(
    access.roles.filter((name) => roles.has(name)),
    (access.groups ?? []).filter((name) => groups.has(name)),
  );
}
