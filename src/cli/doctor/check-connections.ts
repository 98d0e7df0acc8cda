// doctor: the upstream identity providers. It reads the database only, and no upstream.
import { createAudit } from '../../audit/audit.ts';
import { createProtectedRows } from '../../audit/protected-rows.ts';
import type { Config } from '../../config.ts';
import { createConnections } from '../../connections/connections.ts';
import { createConnectionDocuments } from '../../connections/documents.ts';
import { connectionWarnings } from '../../connections/warnings.ts';
import { decryptDataKeys } from '../../keys/data-keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { createVault } from '../../platform/vault.ts';
import { parseIdentityProviderMetadata } from '../../saml/metadata/parse-identity-provider.ts';
import type { Database } from '../../storage/database.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

export interface ConnectionCheckNeeds {
  config: Config;
  logger: Logger;
  now: Clock;
  database: Database;
}

const advice = {
  ends: 'Create a new one at the provider and add it: gatehouse connection secret ID, or in the console.',
  document: 'Check that this machine reaches the upstream, and read the fault in the console.',
  domain: 'Add the DNS record that the console shows, or remove the domain.',
  forged: 'Look for the intruder, and remove the connection: gatehouse connection remove ID.',
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
  const connections = createConnections({ ...stored, assertMay: async () => {} });
  const parseMetadata = (xml: string) => parseIdentityProviderMetadata(xml, now());
  const unused = async () => Promise.reject(new Error('doctor calls no upstream'));
  const documents = createConnectionDocuments({
    ...{ ...stored, connections, parseMetadata, outgoing: unused, fetchMetadata: unused },
  });
  const warnings = await connectionWarnings({ connections, documents, parseMetadata, now });
  if (warnings.length === 0) return [ok('connections', `${count} registered`)];
  return warnings.map(({ problem, text, isUrgent }) =>
    isUrgent ? failure('connections', text, advice[problem]) : warning('connections', text, advice[problem]),
  );
}
