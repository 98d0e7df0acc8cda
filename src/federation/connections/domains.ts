// Email domains of connections. A domain that the configuration file declares is proven; for any other one a DNS TXT record
// proves that its owner agrees. It is looked up when an administrator says so, and every day: a proof that is gone stops the routing
// of the domain; name servers that do not answer change nothing.
import { conflict, notFound } from '../../base/http/errors.ts';
import {
  type DomainCheck,
  type DomainProof,
  isProofDue,
  lookUpProof,
  newChallenge,
  proofRecord,
} from '../../base/network/domains.ts';
import { isUniqueConstraintError, type Tx, transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Connection } from './connection.ts';
import { type ConnectionsContext, recordChange } from './context.ts';

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
async function setProof(
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

export function createDomainChecks(
  dependencies: Core & { connections: { get(id: string): Promise<Connection>; list(): Promise<Connection[]> } },
) {
  const { db, now, connections } = dependencies;

  async function check(domain: ConnectionDomain, by?: Actor): Promise<DomainCheck> {
    const found = await lookUpProof(dependencies, domain);
    if (found !== 'unreachable') await transaction(db, (tx) => storeOutcome(domain, found === 'proven', tx, by));
    return found;
  }

  async function storeOutcome(domain: ConnectionDomain, isProven: boolean, tx: Tx, by?: Actor): Promise<void> {
    const challenge = domain.record.value.replace(/^gatehouse-domain=/, '');
    const row = { domain: domain.domain, connectionId: domain.connectionId, challenge };
    await setProof(dependencies, row, isProven ? (domain.provenAt ?? now()) : null, tx);
    if (isProven === (domain.provenAt !== null)) return;
    const type = isProven ? 'connection.domain-proven' : 'connection.domain-lost';
    await recordChange(dependencies, type, domain.connectionId, tx, by, { domain: domain.domain });
  }

  return {
    /** Looks the record up now. Throws not_found (404). */
    async check(connectionId: string, domain: string, by?: Actor): Promise<DomainCheck> {
      await connections.get(connectionId);
      const one = (await listDomains(connectionId, db)).find((row) => row.domain === domain);
      if (!one) throw notFound({ message: t('console.connections.fault.no-domain', { domain }) });
      return check(one, by);
    },

    /** Checks those that are due; for the job. */
    async checkDue(signal: AbortSignal): Promise<void> {
      // The file itself is the proof of what it declares.
      const local = new Set((await connections.list()).filter(({ source }) => source === 'local').map(({ id }) => id));
      for (const domain of await listDomains(undefined, db)) {
        if (signal.aborted) return;
        if (local.has(domain.connectionId) && isProofDue(domain, now())) await check(domain);
      }
    },
  };
}
