// The password of the account that searches, in place of the registry of connections.
import type { DirectoryDependencies } from '../../src/federation/ldap/directory.ts';

/** It remembers a refusal, as the registry does. */
export function storedPassword(value: string): DirectoryDependencies['connections'] & { refused: string[] } {
  const refusal = {
    refusedAt: null as Date | null,
    refusedReason: null as string | null,
    refusedText: null as string | null,
  };
  const head = { id: '1', purpose: 'bind-password' as const, createdAt: new Date(), expiresAt: null, value };
  const refused: string[] = [];
  return {
    refused,
    decryptedSecrets: async () => [{ ...head, ...refusal }],
    async secretRefused(_id, _secretId, { reason, text }) {
      refused.push(text);
      Object.assign(refusal, { refusedAt: new Date(), refusedReason: reason, refusedText: text });
    },
    async secretAccepted() {
      Object.assign(refusal, { refusedAt: null, refusedReason: null, refusedText: null });
    },
  };
}
