// Whether the engine accepts a stored client. It checks one at each first look-up, and reads its sector_identifier_uri (OpenID Connect
// Core 8.1): a row of an earlier version, or a document that can't be read, then rejects every request.
import type { Logger } from '../../platform/logger.ts';
import { type Client, errors, type Provider } from '../engine/library.ts';

/** Why the engine rejects an enabled client, in its English words; undefined for one that it accepts, and for an unknown one. */
export type RegistrationFaults = (clientId: string) => Promise<string | undefined>;

export function createRegistrationFaults(provider: () => Provider): RegistrationFaults {
  return async (clientId) => {
    try {
      await provider().Client.find(clientId);
      return undefined;
    } catch (error) {
      const reason = registrationFault(error);
      if (reason === undefined) throw error;
      return reason;
    }
  };
}

/** Reports a client that a logout skips, because the engine rejects its registration. */
export type ReportRejectedClient = (clientId: string, fault: string) => void;

export function reportRejectedClients(logger: Pick<Logger, 'warn'>): ReportRejectedClient {
  return (clientId, fault) =>
    logger.warn(
      { clientId, detail: { fault } },
      'an application cannot be notified of a logout, as its registration is invalid',
    );
}

/** Looks a client up for a logout: undefined for one that the engine rejects, which is reported and stops no logout. */
export async function findUnlessRejected(
  find: () => Promise<Client | undefined>,
  report: (fault: string) => void,
): Promise<Client | undefined> {
  try {
    return await find();
  } catch (error) {
    const fault = registrationFault(error);
    if (fault === undefined) throw error;
    report(fault);
    return undefined;
  }
}

/** What an error says about a registration; undefined for one about something else. */
export function registrationFault(error: unknown): string | undefined {
  if (!(error instanceof errors.InvalidClientMetadata)) return undefined;
  const { error_description: description, error_detail: detail } = error as {
    error_description?: string;
    error_detail?: string;
  };
  return [...new Set([description, detail])].filter(Boolean).join(': ');
}
