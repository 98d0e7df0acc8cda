// Looks up the DNS proof of domains: when an administrator says so, and every day. A proof that is gone stops the routing of the
// domain; name servers that do not answer change nothing.

import { notFound } from '../../base/http/errors.ts';
import { type DomainCheck, isProofDue, lookUpProof } from '../../base/network/domains.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Connections } from './connections.ts';
import { recordChange } from './context.ts';
import { type ConnectionDomain, listDomains, setProof } from './domains.ts';

export function createDomainChecks(dependencies: Core & { connections: Connections }) {
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
