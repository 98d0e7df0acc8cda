// MACs of rows that give a right or prove a person: grants of roles, roles, passwords, factors, links. A program that can write to
// the database, but has no data key, cannot make such a row: it gives no right and verifies nothing, and raises an alarm.
import type { Vault } from '../platform/vault.ts';
import type { Alarm } from './alarm.ts';

export type ProtectedTable =
  | 'user_roles'
  | 'roles'
  | 'password_credentials'
  | 'passkeys'
  | 'phone_factors'
  | 'password_reset_tokens'
  | 'mail_tokens'
  | 'connections'
  | 'connection_documents'
  | 'connection_domains'
  | 'connection_role_mappings'
  | 'external_identities'
  | 'upstream_sessions';

export interface ProtectedRows {
  /** The MAC to store with a row. `fields` are its key, first, and every value that decides what the row gives or proves. */
  macOf(table: ProtectedTable, fields: readonly string[]): string;
  /** Whether this server wrote the row; raises an alarm if not. */
  isGenuine(table: ProtectedTable, fields: readonly string[], mac: string): boolean;
}

export interface ProtectedRowsDependencies {
  vault: Pick<Vault, 'mac' | 'macMatches'>;
  alarm: Pick<Alarm, 'raise'>;
}

export function createProtectedRows({ vault, alarm }: ProtectedRowsDependencies): ProtectedRows {
  const purpose = (table: ProtectedTable) => `row ${table}`;
  return {
    macOf: (table, fields) => vault.mac(JSON.stringify(fields), purpose(table)),
    isGenuine(table, fields, mac) {
      if (vault.macMatches(JSON.stringify(fields), mac, purpose(table))) return true;
      const key = fields[0] ?? '';
      // Not awaited, because a transaction may be open; raise() catches its errors.
      void alarm.raise('row', `a row of ${table} was written by another program: ${key}`, { table, key });
      return false;
    },
  };
}
