// doctor: the upstream identity providers. It reads the database only, and no upstream but directories: whether they accept the
// account that searches is stored nowhere.

import type { Config } from '../../base/config.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { createVault } from '../../base/platform/vault.ts';
import type { Database } from '../../base/storage/database.ts';
import { createProtectedRows } from '../../base/storage/protected-rows.ts';
import { createAudit } from '../../core/audit/audit.ts';
import { decryptDataKeys } from '../../core/keys/data-keys.ts';
import { certificateEnds } from '../../core/keys/key-rows.ts';
import { type Connections, createConnections } from '../../federation/connections/connections.ts';
import { createConnectionDocuments } from '../../federation/connections/documents.ts';
import { rejectedSecret } from '../../federation/connections/secrets.ts';
import { connectionWarnings } from '../../federation/connections/warnings.ts';
import { FederationError } from '../../federation/faults.ts';
import { createDirectory, type Directory } from '../../federation/ldap/directory.ts';
import { parseIdentityProviderMetadata } from '../../protocols/saml/metadata/parse-identity-provider.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

export interface ConnectionCheckNeeds {
  config: Config;
  logger: Logger;
  now: Clock;
  database: Database;
}

const advice = {
  ends: 'Create a new one at the provider and add it: gatehouse connection secret ID, or in the console.',
  'own-certificate': 'Publish the next one: gatehouse keys rotate --saml-sp, and later the same with --activate.',
  document: 'Check that this machine can reach the upstream, and look up the error in the console.',
  domain: 'Add the DNS record that the console shows, or remove the domain.',
  rejected:
    'Store the right password: gatehouse connection secret ID, or in the console. "Try it" there sends the old one once more.',
  directory:
    'Compare url, ca, bind_dn, bind_password and base_dn with the directory; "Try it" in the console displays more details.',
  endpoint: 'Ask the upstream for metadata with https addresses, or declare sso_url and slo_url yourself.',
  forged: 'Find out who changed it, and remove the connection: gatehouse connection remove ID.',
} as const;

export async function connectionFindings({ config, logger, now, database }: ConnectionCheckNeeds): Promise<Finding[]> {
  const { db, sql } = database;
  const count = await db.connection.count();
  if (count === 0) return [];
  const sealing = createVault(config.secrets);
  const vault = createVault(config.secrets, decryptDataKeys(await db.dataKey.findMany(), sealing).mac);
  // The server raises the alarm; doctor only says what it found.
  const protectedRows = createProtectedRows({ vault, alarm: { raise: async () => {} } });
  const audit = createAudit({ db, sql, vault, logger, now });
  const stored = { db, sql, vault, audit, now, logger, protectedRows };
  // doctor sends no mail: what it finds is on the terminal.
  const unsent = async () => {};
  const connections = createConnections({ ...stored, assertMay: unsent, notifyAdministrators: unsent });
  const parseMetadata = (xml: string) => parseIdentityProviderMetadata(xml, now());
  const unused = async () => Promise.reject(new Error('doctor calls no upstream'));
  const documents = createConnectionDocuments({
    ...stored,
    connections,
    parseMetadata,
    outgoing: unused,
    fetchMetadata: unused,
  });
  const ownCertificates = () => certificateEnds(db, ['saml-sp', 'saml-sp-encryption']);
  // First: a password that a directory rejects now is a warning then.
  const ofDirectories = await directoryFindings(createDirectory({ connections, now }), connections, now);
  const warnings = await connectionWarnings({ connections, documents, parseMetadata, ownCertificates, now });
  const findings = [
    ...warnings.map(({ problem, text, isUrgent }) =>
      (isUrgent ? failure : warning)('connections', String(text), advice[problem]),
    ),
    ...ofDirectories,
  ];
  return findings.length === 0 ? [ok('connections', `${count} registered`)] : findings;
}

async function directoryFindings(directory: Directory, connections: Connections, now: Clock): Promise<Finding[]> {
  const enabled = await connections.enabled();
  const directories = enabled.filter((one) => one.kind === 'ldap');
  const findings = await Promise.all(
    directories.map(async (one) => {
      try {
        await directory.probe(one);
        return [];
      } catch (error) {
        if (!(error instanceof FederationError)) throw error;
        // Stored, so it is among the warnings.
        if (rejectedSecret(await connections.secretInfos(one.id), now())) return [];
        const text = `the directory ${one.id} can’t be used: ${error.expected ?? ''}: ${error.received ?? ''}`;
        return [failure('connections', text, advice.directory)];
      }
    }),
  );
  return findings.flat();
}
