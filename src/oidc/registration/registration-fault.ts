// Whether the engine accepts a stored client. It checks one at each first look-up, and reads its sector_identifier_uri (OpenID Connect
// Core 8.1): a row of an earlier version, or a document that can't be read, then rejects every request.
import { errors, type Provider } from '../engine/library.ts';

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

/** What an error says about a registration; undefined for one about something else. */
export function registrationFault(error: unknown): string | undefined {
  if (!(error instanceof errors.InvalidClientMetadata)) return undefined;
  const { error_description: description, error_detail: detail } = error as {
    error_description?: string;
    error_detail?: string;
  };
  return [...new Set([description, detail])].filter(Boolean).join(': ');
}
