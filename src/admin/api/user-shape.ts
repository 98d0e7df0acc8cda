// A user in the words of the API, which are those of the configuration file, and back in the words of the accounts.
import { z } from 'zod';
import type { Account } from '../../accounts/account.ts';
import type { AccountSummary } from '../../accounts/list.ts';
import type { Profile } from '../../accounts/profile.ts';
import { AppError } from '../../http/errors.ts';
import { limits } from '../../limits.ts';
import { snakeCase } from '../../provisioning/user-profile.ts';
import type { UserDetails } from '../users.ts';
import { iso, time } from './parts.ts';

const line = z.string().max(2000).nullable();

/** What an administrator may set. */
export const profileFields = {
  username: z.string().min(1).max(254),
  email: line.describe('null: none'),
  email_verified: z.boolean(),
  name: line,
  given_name: line,
  family_name: line,
  picture: line,
  locale: line,
  zoneinfo: line,
  phone_number: line,
  sso_id: line.describe('`sub` at an upstream identity provider'),
  attributes: z.record(z.string().max(64), z.json()).describe('What they may be, the setting user_attributes says'),
};

const summaryFields = {
  id: z.string().describe('`sub` in tokens'),
  username: z.string(),
  email: z.string().nullable(),
  email_verified: z.boolean(),
  name: z.string().nullable(),
  active: z.boolean(),
  source: z.string().describe('local, or file: declared in the configuration file'),
  roles: z.array(z.string()),
  created_at: time,
  updated_at: time,
};

export const userSummary = z.object(summaryFields).meta({ id: 'UserSummary' });

export const user = z
  .object({
    ...summaryFields,
    ...Object.fromEntries(
      (['given_name', 'family_name', 'picture', 'locale', 'zoneinfo', 'phone_number', 'sso_id'] as const).map(
        (name) => [name, z.string().nullable()],
      ),
    ),
    attributes: z.record(z.string(), z.json()),
    permissions: z.array(z.string()).describe('resource:action of all roles together'),
  })
  .meta({ id: 'User' });

export const userDetails = user
  .extend({
    password: z
      .object({ must_change: z.boolean(), changed_at: time })
      .nullable()
      .describe('null: none; such a user signs in otherwise, or not at all'),
    second_factors: z.object({
      totp: z.boolean(),
      passkeys: z.int(),
      recovery_codes: z.int(),
      phone: z.string().nullable(),
    }),
    locked_seconds: z.int().describe('How long a new browser has to wait after wrong passwords'),
  })
  .meta({ id: 'UserDetails' });

export const password = z.string().min(limits.password.minWithMfa).max(limits.password.max);

export function showSummary({ emailVerified, isActive, createdAt, updatedAt, ...account }: AccountSummary) {
  const { id, username, email, name, source, roles } = account;
  return {
    ...{ id, username, email, email_verified: emailVerified, name, active: isActive, source, roles },
    ...{ created_at: iso(createdAt), updated_at: iso(updatedAt) },
  };
}

export function showUser(account: Account) {
  const { givenName, familyName, picture, locale, zoneinfo, phoneNumber, ssoId, attributes, permissions } = account;
  return {
    ...showSummary(account),
    ...{ given_name: givenName, family_name: familyName, picture, locale, zoneinfo },
    ...{ phone_number: phoneNumber, sso_id: ssoId, permissions },
    attributes: attributes as z.output<typeof user>['attributes'],
  };
}

export function showDetails({ account, password: stored, factors, lockedSeconds }: UserDetails) {
  const { totp, passkeys, recoveryCodes, phone = null } = factors;
  return {
    ...showUser(account),
    password: stored ? { must_change: stored.mustChange, changed_at: iso(stored.changedAt) } : null,
    second_factors: { totp, passkeys, recovery_codes: recoveryCodes, phone },
    locked_seconds: lockedSeconds,
  };
}

/** `given_name` -> `givenName`, for the fields that are there. */
export function profileOf(fields: Record<string, unknown>): Partial<Profile> {
  const given = Object.keys(profileFields).filter((name) => fields[name] !== undefined);
  const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(given.map((name) => [camelCase(name), fields[name]])) as Partial<Profile>;
}

/** Runs `work`; what it refuses is told in the words of the API. */
export async function inOurWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.fields.length === 0) throw error;
    const fields = error.fields.map(({ field, message }) => ({ field: snakeCase(field), message }));
    const { code, message, detail, headers } = error;
    throw new AppError(code, {
      message,
      fields,
      detail,
      headers,
      cause: error,
      ...(error.advice && { advice: error.advice }),
    });
  }
}
