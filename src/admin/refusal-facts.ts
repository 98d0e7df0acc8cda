// What the rules of both protocols share: their shape, and the two about the application and the person.
import { X509Certificate } from 'node:crypto';
import type { Account } from '../accounts/account.ts';
import type { Application } from '../applications/application.ts';
import type { Refusal } from '../refusals/refusals.ts';

export interface RuleFacts {
  id: string;
  label: string;
  received?: string | undefined;
  registered?: string | undefined;
  /** Whether it would pass with what is registered now; undefined where that cannot be told from here. */
  passesNow?: boolean | undefined;
  explanation?: string;
}

export interface About {
  refusal: Refusal;
  application: Application | undefined;
  person: Account | undefined;
  /** Addresses of a service provider that answers may go to. */
  acsUrls: readonly string[];
  /** PEM of the certificates that its requests may be signed with. */
  certificates: readonly string[];
  scopesKnown: readonly string[];
}

export function clientRule({ refusal, application }: About): RuleFacts {
  return {
    id: 'client',
    label: 'The application is registered and enabled',
    received: refusal.clientId,
    registered: application ? `${application.clientId}${application.enabled ? '' : ' (disabled)'}` : undefined,
    passesNow: application?.enabled ?? false,
    explanation: application ? 'It is switched off here.' : 'No application has this identifier.',
  };
}

export function accessRule({ application, person }: About): RuleFacts {
  const { access } = application ?? {};
  const wanted = access === undefined || access === 'everyone' ? undefined : access.roles;
  return {
    id: 'access',
    label: 'The person may open the application',
    received: person ? `${person.username}: ${person.roles.join(', ') || 'no roles'}` : undefined,
    registered: wanted ? wanted.join(', ') : 'everyone',
    passesNow: person && (wanted ? wanted.some((role) => person.roles.includes(role)) : true),
  };
}

/** SHA-256 of a certificate; the text itself where it is none. */
export function fingerprint(pem: string): string {
  try {
    return new X509Certificate(pem).fingerprint256;
  } catch {
    return pem;
  }
}
