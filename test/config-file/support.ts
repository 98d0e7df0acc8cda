// Everything configFile needs, on a fresh database of the run's kind.

import { createApplications } from '../../src/applications/applications.ts';
import { createImageStore } from '../../src/applications/brand/image-store.ts';
import type { Config } from '../../src/base/config.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createVault } from '../../src/base/platform/vault.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { createProtectedRows } from '../../src/base/storage/protected-rows.ts';
import { createConfigFile, type PlanResult } from '../../src/config-file/config-file.ts';
import { exportConfiguration } from '../../src/config-file/export.ts';
import { formatFault, parseFile } from '../../src/config-file/file.ts';
import { createAudit } from '../../src/core/audit/audit.ts';
import { createSettings } from '../../src/core/settings/settings.ts';
import { createConnections } from '../../src/federation/connections/connections.ts';
import { createExternalIdentities } from '../../src/federation/identities.ts';
import { createSsoIds } from '../../src/federation/sso-ids.ts';
import { createAccounts } from '../../src/people/accounts/accounts.ts';
import { createCredentials } from '../../src/people/credentials/credentials.ts';
import { createPasswords } from '../../src/people/credentials/password.ts';
import { createGroupDomains } from '../../src/people/groups/domains.ts';
import { createGroups } from '../../src/people/groups/groups.ts';
import { createTotp } from '../../src/people/mfa/factors/totp.ts';
import { createAuthority } from '../../src/people/rbac/authority.ts';
import { createRoles } from '../../src/people/rbac/roles.ts';
import { createSignUpCodes } from '../../src/people/sign-up-codes/sign-up-codes.ts';
import { createEventStreams } from '../../src/protocols/event-streams/streams.ts';
import { removeClientArtifacts } from '../../src/protocols/oidc/store/removals.ts';
import { removeServiceProviderData } from '../../src/protocols/saml/slo/session-participants.ts';
import { createScimConnections } from '../../src/protocols/scim/connections.ts';
import { abandonSignIns } from '../../src/sign-in/attempts.ts';
import { testDatabase } from '../support/database/database.ts';
import { servicesOf } from '../support/services-of.ts';

/** `shared`: the URL of a database that another bench opened, as a second instance does. */
export async function configFileBench(shared?: string) {
  const { database, url, close } = shared === undefined ? await testDatabase() : await openShared(shared);
  const { db, sql } = database;
  const clock = { at: new Date('2026-03-01T12:00:00Z') };
  const now = () => clock.at;
  const vault = createVault([Buffer.alloc(32, 1)]);
  const audit = createAudit(
    servicesOf({ db, sql, vault, logger: createLogger({ level: 'silent', format: 'json' }), now }),
  );
  database.protect(createProtectedRows({ vault, alarm: { raise: async () => {} } }));
  const settings = createSettings({ db, now });
  const accounts = createAccounts(servicesOf({ ...database, vault, now, audit, settings, wake: () => {} }));
  const applications = createApplications(
    {
      ...servicesOf({ db, sql, vault, audit, now, settings, authority: createAuthority({ accounts }) }),
      config: { issuer: 'https://idp.example' } as Config,
      removeClientArtifacts,
      removeServiceProviderData,
      wake() {},
    },
    ['gatehouse', 'https://idp.example/api/admin'],
  );
  const passwords = createPasswords();
  const totp = createTotp({ ...servicesOf({ db, vault, now, audit }), issuerName: () => 'localhost' });
  const credentials = createCredentials({
    ...servicesOf({ db, sql, now, audit, settings }),
    passwords,
    serviceNames: () => [],
    breached: { check: async () => 'clean', isCommon: async () => false },
    hasSecondFactor: (userId, tx) => totp.isEnrolled(userId, tx),
    abandonSignIns,
    endAppPasswords: async () => {},
  });
  const brandImages = createImageStore(servicesOf({ db, now }));
  const signUpCodes = createSignUpCodes(servicesOf({ db, sql, vault, now, audit }));
  const authority = createAuthority({ accounts });
  const roles = createRoles({ ...servicesOf({ db, audit, now }), authority });
  const groups = createGroups({
    ...servicesOf({ db, sql, audit, now, settings, authority }),
    logoutOnRoleChange: async () => {},
  });
  await roles.ensureBuiltInRoles();
  const ended: string[] = [];
  const documents = new Map<string, string>();
  const expired = new Set<string>();
  const logger = createLogger({ level: 'silent', format: 'json' });
  const scimConnections = createScimConnections(servicesOf({ db, vault, now, audit, logger }));
  const eventStreams = createEventStreams(servicesOf({ db, vault, now, audit, wake: () => {} }));
  const groupDomains = createGroupDomains({ ...servicesOf({ db, sql, audit, now, logger }), groups, accounts });
  const { assertMay } = authority;
  const notifyAdministrators = async () => {};
  const stored = { db, sql, vault, audit, now, logger };
  const connections = createConnections({
    ...servicesOf(stored),
    logoutOnRoleChange: async () => {},
    assertMay,
    notifyAdministrators,
  });
  const dependencies: Parameters<typeof createConfigFile>[0] = {
    ...servicesOf({
      db,
      config: { issuer: 'https://idp.example' } as never,
      now,
      audit,
      vault,
      accounts,
      applications,
      settings,
      passwords,
      credentials,
      endSession: { all: async (userId: string, reason: string) => void ended.push(`${reason} ${userId}`) } as never,
      mfa: { totp: totp } as never,
      roles,
      groups,
      groupDomains,
      connections,
      brandImages,
      signUpCodes,
      scimConnections,
      eventStreams,
      ssoIds: createSsoIds({
        ...servicesOf({
          authority: { assertMay: async () => {} } as never,
          groups,
          setConnectionRoles: async () => ({ added: [], removed: [] }),
        }),
        connections,
        identities: createExternalIdentities(servicesOf({ db, now, audit })),
      }),
    }),
    metadata: {
      parse(xml) {
        const entityId = /entityID="([^"]+)"/.exec(xml)?.[1];
        if (!entityId) throw new Error('The entity ID is missing.');
        if (expired.has(entityId)) throw new Error('The metadata expired.');
        return { entityId, leftOut: [], signingCertificates: [], encryption: 'possible' };
      },
      async fetch(address) {
        const xml = documents.get(address);
        if (xml === undefined) throw new Error(`${address} does not answer`);
        return xml;
      },
    },
  };
  const configFile = createConfigFile(dependencies);
  const file = (text: string, path = '/nowhere/gatehouse.yaml') => ({ ...parseFile(text), path });
  return {
    db,
    sql,
    url,
    close: () => Promise.all([passwords.close(), brandImages.close(), close()]),
    clock,
    vault,
    accounts,
    applications,
    passwords,
    credentials,
    totp,
    settings,
    roles,
    groups,
    groupDomains,
    connections,
    signUpCodes,
    configFile,
    configFileFor: (issuer: string) => createConfigFile({ ...dependencies, config: { issuer } as never }),
    ended,
    documents,
    expired,
    plan: (text: string) => configFile.plan(file(text)),
    apply: (text: string, path?: string) => configFile.apply(file(text, path)),
    export: (options?: Parameters<typeof exportConfiguration>[1]) =>
      exportConfiguration(
        servicesOf({
          db,
          now,
          applications,
          connections,
          roles,
          settings,
          signUpCodes,
          scimConnections,
          eventStreams,
          brandImages,
        }),
        options,
      ),
  };
}

async function openShared(url: string) {
  const database = await openDatabase(url);
  return { database, url, close: () => database.close() };
}

/** The lines of a plan: `create clients web`, `change users alice (name, roles)`. */
export function lines(result: PlanResult): string[] {
  if (!result.ok) return result.faults.map((fault) => formatFault('f', fault));
  return result.plan.steps.map(({ kind, section, name, fields }) => {
    const changed = kind === 'change' ? ` (${fields.map(({ field }) => field).join(', ')})` : '';
    return `${kind} ${section} ${name}${changed}`;
  });
}
