// The email domains of a connection or a group: a table with the DNS record of each and whether it is proven.
import type { DomainProof } from '../../base/network/domains.ts';
import { t } from '../../base/texts/text.ts';
import type { Cell } from './blocks.ts';
import { tableOf } from './lists.ts';

/** @param actions of each domain, in the last column */
export const domainTable = <Domain extends DomainProof>(
  domains: readonly Domain[],
  isDeclared: boolean,
  actions?: (domain: Domain) => Cell,
) =>
  tableOf(domains, [
    [t('console.connections.domain'), ({ domain }) => domain],
    [
      t('console.connections.proof'),
      ({ provenAt, checkedAt }) =>
        provenAt
          ? {
              text: t('console.connections.proven'),
              tone: 'good',
              small: t('console.connections.proven-by', { by: isDeclared ? 'file' : 'dns' }),
            }
          : { text: t('console.connections.unproven', { checked: checkedAt ? 'yes' : 'no' }), tone: 'warn' },
    ],
    [
      t('console.connections.txt-record'),
      ({ domain, record }) => ({
        text: record.name,
        code: true,
        copy: t('console.connections.copy-record', { domain }),
      }),
    ],
    [
      t('console.shared.value'),
      ({ domain, record }) => ({
        text: record.value,
        code: true,
        copy: t('console.connections.copy-value', { domain }),
      }),
    ],
    actions !== undefined && [t('console.shared.action'), actions],
  ]);
