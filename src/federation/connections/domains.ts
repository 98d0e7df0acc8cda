// Email domains of connections. A domain that the configuration file declares is proven; for any other one a DNS TXT record
// proves that its owner agrees, and is looked up every day.
import { conflict } from '../../base/http/errors.ts';
import { type DomainProof, newChallenge, proofRecord } from '../../base/network/domains.ts';
import { isUniqueConstraintError, type Tx } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { ConnectionsContext } from './context.ts';

/** Not proven: nobody is sent to the connection by it. */
export interface ConnectionDomain extends DomainProof {
  connectionId: string;
}

type Row = {
  domain: string;
  connectionId: string;
  challenge: string;
  provenAt: Date | null;
  checkedAt: Date | null;
};

/** The domains of a connection, or of all. One that another program wrote counts as not proven. */
export async function listDomains(connectionId: string | undefined, tx: Tx): Promise<ConnectionDomain[]> {
  const where = connectionId === undefined ? {} : { connectionId };
  const rows = await tx.connectionDomain.findMany({ where, orderBy: { domain: 'asc' } });
  return rows.map(({ domain, connectionId: id, challenge, provenAt, checkedAt }) => {
    return { domain, connectionId: id, record: proofRecord(domain, challenge), provenAt, checkedAt };
  });
}

/** Makes these the domains of a connection; `isDeclared`: the configuration file says so. Throws conflict (409) for a taken one. */
export async function setDomains(
  context: ConnectionsContext,
  connectionId: string,
  domains: readonly string[],
  { isDeclared }: { isDeclared: boolean },
  tx: Tx,
): Promise<void> {
  const wanted = [...new Set(domains)];
  await tx.connectionDomain.deleteMany({ where: { connectionId, domain: { notIn: wanted } } });
  const stored = await tx.asStored.connectionDomain.findMany({ where: { connectionId } });
  for (const domain of wanted) {
    const existing = stored.find((row) => row.domain === domain);
    if (existing) {
      if (isDeclared && existing.provenAt === null) await setProof(context, existing, context.now(), tx);
      continue;
    }
    const provenAt = isDeclared ? context.now() : null;
    const row = { domain, connectionId, challenge: newChallenge(), provenAt };
    await tx.connectionDomain.create({ data: { ...row, checkedAt: provenAt } }).catch((error: unknown) => {
      if (!isUniqueConstraintError(error)) throw error;
      throw conflict('conflict', { message: t('console.connections.fault.domain-taken', { domain }), cause: error });
    });
  }
}

/** Stores whether a domain is proven now; the MAC covers it. */
export async function setProof(
  { now }: { now: () => Date },
  row: Omit<Row, 'provenAt' | 'checkedAt'>,
  provenAt: Date | null,
  tx: Tx,
): Promise<void> {
  const { domain, connectionId, challenge } = row;
  await tx.connectionDomain.updateMany({
    where: { domain, connectionId, challenge },
    data: { provenAt, checkedAt: now() },
  });
}
