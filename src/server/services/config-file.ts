// The configuration file gatehouse.yaml, which declares applications, connections, roles, users and settings.
import { createConfigFile } from '../../config-file/config-file.ts';
import { createFileReader } from '../../config-file/file-reader.ts';
import type { SsoIds } from '../../federation/sso-ids.ts';
import { parseServiceProviderMetadata } from '../../protocols/saml/metadata/parse.ts';
import { parseIdentityProviderMetadata } from '../../protocols/saml/metadata/parse-identity-provider.ts';
import { decodeXml } from '../../protocols/saml/xml/encoding.ts';
import type { ApplicationServices } from './applications.ts';
import type { Base } from './base.ts';
import type { ConnectionServices } from './connections.ts';
import type { SessionServices } from './sessions.ts';
import type { UserServices } from './users.ts';

export interface ConfigFileServicesDependencies {
  base: Base;
  users: UserServices;
  connections: ConnectionServices;
  applications: ApplicationServices;
  sessions: SessionServices;
  ssoIds: SsoIds;
}

export function createConfigFileServices({
  base,
  users: { accounts, credentials, mfa, passwords, signUpCodes },
  connections: { connections },
  applications: { applications, fetchMetadata },
  sessions: { roles, endSession },
  ssoIds,
}: ConfigFileServicesDependencies) {
  const { now, db, vault, audit, protectedRows, settings, brandImages } = base;
  const configFile = createConfigFile({
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
    brandImages,
    signUpCodes,
    ssoIds,
    totp: mfa.totp,
    fetchMetadata,
    importHash: credentials.importHash,
    endAllSessions: endSession.all,
    decodeMetadata: decodeXml,
    parseMetadata: (xml) => parseServiceProviderMetadata(xml, now()),
    parseUpstreamMetadata: (xml) => parseIdentityProviderMetadata(xml, now()),
  });
  return { configFile, fileReader: createFileReader() };
}
