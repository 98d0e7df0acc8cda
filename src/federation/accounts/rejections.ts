// Why an identity signs in to no account.
import type { Connection } from '../../connections/connection.ts';
import { AppError } from '../../http/errors.ts';
import { FederationError } from '../faults.ts';
import type { AccountFacts } from './facts.ts';

/** Whether another sign-in stored the identity, or took the name or address, after this one had read that it is free. */
export function isTakenMeanwhile(error: unknown): boolean {
  return error instanceof AppError && ['identity_taken', 'user_name_taken', 'email_taken'].includes(error.code);
}

/** The identity was linked to another account. */
export function taken({ profile }: AccountFacts): FederationError {
  return new FederationError('identity_taken', {
    rule: 'account',
    message: 'This identity is connected to another account.',
    expected: 'an identity that no other account has',
    received: profile.email ?? profile.username ?? 'no address',
  });
}

/** A stronger sign-in is that of the same user; it neither links nor creates an account. */
export function assertUser(userId: string | undefined, { id }: Connection, { known, profile }: AccountFacts): void {
  if (userId === undefined || known?.id === userId) return;
  throw new FederationError('upstream_other_user', {
    rule: 'account',
    message: 'The identity belongs to a different user than the session.',
    expected: `an identity of the signed-in user at ${id}`,
    received: profile.email ?? profile.username ?? 'no address',
  });
}

/** The address is that of an account with another subject of the same connection. */
export function addressInUse({ id }: Connection, subject: string, { holder, profile }: AccountFacts): FederationError {
  return new FederationError('address_in_use', {
    rule: 'address',
    message: 'The email address belongs to an account that another user of this connection has.',
    expected: 'an address that no other user of the connection has',
    received: `${profile.email ?? 'no address'}, of ${subject} at ${id}`,
    subject,
    userId: holder?.id,
  });
}

/** No account, or a disabled one. */
export function rejected(
  fault: 'account_inactive' | 'not_invited',
  { settings }: Connection,
  { profile, known, invited, holder }: AccountFacts,
): FederationError {
  const disabled = [known, invited, holder].find((one) => one?.isActive === false);
  return new FederationError(fault, {
    rule: 'account',
    userId: fault === 'account_inactive' ? disabled?.id : undefined,
    message:
      fault === 'account_inactive'
        ? 'The user’s account is disabled.'
        : 'The user has no account, and the connection doesn’t create accounts.',
    expected: fault === 'account_inactive' ? 'an active account' : 'an account, or create_users: true',
    received: `${profile.email ?? profile.username ?? 'no address'}${settings.link_only ? ' (link_only)' : ''}`,
  });
}
