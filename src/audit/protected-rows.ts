// MACs of rows that give a right, prove a person or decide what an application gets: server/secrets/protected-tables.ts lists all
// tables, docs/decisions/0031-macs-of-rows.md has the reasons. A program that can write to the database, but has no data key, cannot make or change such a row: it counts as absent,
// and raises an alarm.
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
  | 'upstream_sessions'
  | 'users'
  | 'known_browsers'
  | 'applications'
  | 'application_pictures'
  | 'application_roles'
  | 'client_secrets'
  | 'resources'
  | 'consents'
  | 'oidc_artifacts'
  | 'rp_sessions'
  | 'sign_in_attempts'
  | 'first_factor_approvals'
  | 'saml_metadata'
  | 'saml_requests'
  | 'saml_name_ids'
  | 'api_keys'
  | 'sign_up_codes'
  | 'logout_runs'
  | 'logout_participants'
  | 'logout_deliveries'
  | 'settings';

/** Times as ISO text, so that both databases and both ways to read a row give the same. */
export type ProtectedValue = string | number | boolean | null;

export type ProtectedRows = ReturnType<typeof createProtectedRows>;

export interface ProtectedRowsDependencies {
  vault: Vault;
  alarm: Alarm;
}

/** The number of characters that are removed from the end of a MAC when its row is consumed. The rest has 132 bits. */
export const REMOVED_MAC_CHARACTERS = 21;

export function createProtectedRows({ vault, alarm }: ProtectedRowsDependencies) {
  const purpose = (table: ProtectedTable) => `row ${table}`;
  const raise = (table: ProtectedTable, fields: readonly ProtectedValue[]): false => {
    const key = String(fields[0] ?? '');
    // Not awaited, because a transaction may be open; raise() catches its errors.
    void alarm.raise('row', `a row of ${table} was written by another program: ${key}`, { table, key });
    return false;
  };
  const recent = createRecentMacs();
  return {
    /** The MAC to store with a row. `fields` are its key, first, and every value that decides what the row gives or proves. */
    macOf(table: ProtectedTable, fields: readonly ProtectedValue[]): string {
      const text = JSON.stringify(fields);
      const mac = vault.mac(text, purpose(table));
      if (table === READ_OFTEN) recent.add(mac, text);
      return mac;
    },
    /** Whether this server wrote the row; raises an alarm if not. */
    isGenuine(table: ProtectedTable, fields: readonly ProtectedValue[], mac: string): boolean {
      const text = JSON.stringify(fields);
      if (table === READ_OFTEN && recent.has(mac, text)) return true;
      if (!vault.macMatches(text, mac, purpose(table))) return raise(table, fields);
      if (table === READ_OFTEN) recent.add(mac, text);
      return true;
    },
    /**
     * The same for a consumed row, whose stored MAC is shortened. The removed characters are lost, so no program can make the row
     * valid again.
     */
    isGenuineConsumed: (table: ProtectedTable, fields: readonly ProtectedValue[], mac: string): boolean =>
      vault.macMatches(JSON.stringify(fields), mac, purpose(table), REMOVED_MAC_CHARACTERS) || raise(table, fields),
  };
}

/** A flow reads the rows of this table several times. Only one table, so that a text has one MAC. */
const READ_OFTEN: ProtectedTable = 'oidc_artifacts';

/** About 1 KB each. */
const RECENT_MACS = 2000;

/** The MACs that this process made or verified last, each with the text that it covers. */
function createRecentMacs() {
  const texts = new Map<string, string>();
  return {
    has: (mac: string, text: string) => texts.get(mac) === text,
    add(mac: string, text: string) {
      if (texts.size >= RECENT_MACS) texts.delete(texts.keys().next().value as string);
      texts.set(mac, text);
    },
  };
}
