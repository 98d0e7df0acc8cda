// Applications, signing keys, sessions with their logout, roles, and the configuration file that declares all of it.
import { createApplications } from '../applications/applications.ts';
import { createConfigFile } from '../config-file/config-file.ts';
import { createFileReader } from '../config-file/file-reader.ts';
import { createKeyring } from '../keys/keyring.ts';
import { createEndSession } from '../logout/end-session.ts';
import { createLogoutRuns } from '../logout/logout-runs.ts';
import { createLogoutOnRoleChange } from '../logout/role-change.ts';
import { removeClientArtifacts } from '../oidc/store/removals.ts';
import { createSessions } from '../oidc/store/sessions.ts';
import { createAuthority } from '../rbac/authority.ts';
import { ownResources } from '../rbac/built-in.ts';
import { createSetConnectionRoles } from '../rbac/connection-roles.ts';
import { createRoles } from '../rbac/roles.ts';
import { FIRST_PARTY_CLIENT_ID } from '../rp/first-party-client.ts';
import { createMetadataFetch } from '../saml/metadata/fetch.ts';
import { parseServiceProviderMetadata } from '../saml/metadata/parse.ts';
import { parseIdentityProviderMetadata } from '../saml/metadata/parse-identity-provider.ts';
import { removeServiceProviderData } from '../saml/slo/removals.ts';
import type { Base } from './base.ts';
import type { ConnectionServices } from './connections.ts';
import type { FederationServices } from './federation.ts';
import type { UserServices } from './users.ts';

export interface ApplicationServicesDependencies {
  base: Base;
  users: UserServices;
  connections: Pick<ConnectionServices, 'connections'>;
  federation: Pick<FederationServices, 'planUpstream'>;
  /** Called when a logout delivery is queued. */
  logoutQueued(): void;
}

export function createApplicationServices({
  base,
  users,
  connections: { connections },
  federation: { planUpstream },
  logoutQueued,
}: ApplicationServicesDependencies) {
  const { config, logger, now, db, sql, vault, audit, protectedRows, settings, outgoing } = base;
  const { accounts, credentials, mfa, passwords } = users;
  const { knownBrowsers } = mfa;
  const { issuer } = config;
  const setting = settings.latest;
  const applications = createApplications({
    ...{ db, vault, audit, now, protectedRows, removeClientArtifacts, removeServiceProviderData },
    authority: createAuthority({ accounts }),
    reserved: [FIRST_PARTY_CLIENT_ID, issuer, `${issuer}/saml/metadata`, ...Object.keys(ownResources(issuer))],
  });
  const sessionSeconds = () => setting().session_hours * 3600;
  const keyring = createKeyring({ db, vault, now, issuer, logger, audit, sessionSeconds });
  const idleSeconds = () => setting().session_idle_minutes * 60;
  const sessions = createSessions({ db, sql, now, protectedRows, idleSeconds });
  const runs = createLogoutRuns({ db, now, audit, deliverSoon: logoutQueued });
  const endSession = createEndSession({
    ...{
      db,
      now,
      audit,
      protectedRows,
      sessions,
      runs,
      ownClientId: FIRST_PARTY_CLIENT_ID,
      planUpstream,
      deliverSoon: logoutQueued,
    },
    endTrust: async (accountId, { sessions: uids, except }, tx) =>
      knownBrowsers.endTrust(accountId, tx, {
        ...(uids && { only: await sessions.browsersOf(uids, tx) }),
        ...(except && { except: await sessions.browsersOf([except], tx) }),
      }),
  });
  const isEnabled = () => setting().sign_out_on_role_change;
  const rolesChanged = createLogoutOnRoleChange({ isEnabled, sessions, endSession });
  const roles = createRoles({ db, now, audit, accounts, protectedRows, rolesChanged });
  const setConnectionRoles = createSetConnectionRoles({ db, audit, protectedRows, rolesChanged });
  const fetchMetadata = createMetadataFetch({ outgoing });
  const configFile = createConfigFile({
    ...{
      db,
      now,
      vault,
      audit,
      protectedRows,
      accounts,
      applications,
      connections,
      roles,
      settings,
      passwords,
      totp: mfa.totp,
      fetchMetadata,
    },
    ...{ importHash: credentials.importHash, endAllSessions: endSession.all },
    parseMetadata: (xml) => parseServiceProviderMetadata(xml, now()),
    parseUpstreamMetadata: (xml) => parseIdentityProviderMetadata(xml, now()),
  });
  const fileReader = createFileReader();
  return {
    applications,
    keyring,
    sessions,
    runs,
    endSession,
    roles,
    setConnectionRoles,
    fetchMetadata,
    configFile,
    fileReader,
  };
}
