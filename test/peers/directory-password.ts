// The password of the account that searches, in place of the registry of connections.
import type { Config } from '../../src/base/config.ts';
import type { Connections } from '../../src/federation/connections/connections.ts';
import { createDirectory } from '../../src/federation/ldap/directory.ts';
import { servicesOf } from '../support/services-of.ts';

/** It remembers a rejection, as the registry does. */
export function storedPassword(value: string): Connections & { rejected: string[] } {
  const rejection = {
    rejectedAt: null as Date | null,
    rejectedReason: null as string | null,
    rejectedText: null as string | null,
  };
  const head = { id: '1', purpose: 'bind-password' as const, createdAt: new Date(), expiresAt: null, value };
  const rejected: string[] = [];
  return {
    rejected,
    decryptedSecrets: async () => [{ ...head, ...rejection }],
    async secretRejected(_id: string, _secretId: string, { reason, text }: { reason: string; text: string }) {
      rejected.push(text);
      Object.assign(rejection, { rejectedAt: new Date(), rejectedReason: reason, rejectedText: text });
    },
    async secretAccepted() {
      Object.assign(rejection, { rejectedAt: null, rejectedReason: null, rejectedText: null });
    },
  } as never;
}

/** The code that asks directories, without the rest of a server. */
export const directoryWith = (connections: Connections) =>
  createDirectory({
    ...servicesOf({ now: () => new Date(), config: { authorityFiles: {} } as Config }),
    connections,
  });
