// Whether the engine accepts a stored client. It checks one at each first look-up, and reads its sector_identifier_uri (OpenID Connect
// Core 8.1): a row of an earlier version, or a document that can't be read, then rejects every request.

import { oidcClient } from '../../../applications/fields/oidc-client.ts';
import { oidcRules } from '../../../applications/oidc-rules.ts';
import type { Logger } from '../../../base/platform/logger.ts';
import { check, faultLine } from '../../../base/texts/faults.ts';
import { asciiText } from '../engine/error-description.ts';
import { type Client, errors, type Provider } from '../engine/library.ts';
import { registrableFields } from './client-metadata.ts';

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

export function reportRejectedClients(logger: Logger): ReportRejectedClient {
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

/** The faults of a registration that a client sent, each with its field and the remedy, in ASCII (RFC 7591 3.2.2); undefined without one. */
export function faultsOfRegistration(sent: unknown): string | undefined {
  const own = Object.entries(typeof sent === 'object' && sent !== null ? sent : {}).filter(
    ([field, value]) => (registrableFields.includes(field) || field === 'client_name') && value !== undefined,
  );
  const input = { ...Object.fromEntries(own), client_id: 'new' };
  const checked = check(oidcClient, input, oidcRules);
  if (checked.ok) return undefined;
  return asciiText(checked.faults.slice(0, 10).map(faultLine).join(' '));
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
