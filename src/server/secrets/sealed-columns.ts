// Every column that holds values encrypted under GATEHOUSE_SECRET. `gatehouse secrets rotate` encrypts them again and `doctor`
// counts them; test/cli/secret-rotation.test.ts compares the list with the schema.

export interface SealedColumn {
  table: string;
  /** The key of the table. A value is bound to `table:key`. */
  key: string;
  column: string;
  /** The column holds JSON: a sealed text, or an object with fields that are bound to `table:key.field`. */
  json?: true;
}

export const sealedColumns: readonly SealedColumn[] = [
  { table: 'data_keys', key: 'id', column: 'key_sealed' },
  { table: 'signing_keys', key: 'id', column: 'private_sealed' },
  { table: 'totp_credentials', key: 'user_id', column: 'secret_sealed' },
  { table: 'client_secrets', key: 'id', column: 'secret_sealed' },
  { table: 'settings', key: 'key', column: 'value', json: true },
  { table: 'mail_messages', key: 'id', column: 'body_sealed' },
  { table: 'idempotency_keys', key: 'id', column: 'response_sealed' },
  { table: 'stored_forms', key: 'id', column: 'form_sealed' },
  { table: 'connection_secrets', key: 'id', column: 'value_sealed' },
  { table: 'upstream_requests', key: 'id', column: 'data_sealed' },
  { table: 'upstream_requests', key: 'id', column: 'answer_sealed' },
  { table: 'upstream_sessions', key: 'id', column: 'data_sealed' },
];
