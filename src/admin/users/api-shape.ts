// A user in the API: the same field names as in the configuration file, converted from and to those of accounts.
import { z } from 'zod';
import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { snakeCase } from '../../config-file/schema.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { AccountSummary } from '../../people/accounts/account-list.ts';
import type { Profile } from '../../people/accounts/profile.ts';
import {
  addressSchema,
  type TextClaim,
  textFieldNames,
  textFields,
  textSchemas,
} from '../../people/accounts/profile-fields.ts';
import { iso, time } from '../api/parts.ts';
import type { UserDetails } from './actions.ts';

const line = z.string().max(2000).nullable();

/** The fields that an administrator may set. */
export const profileFields = {
  username: z.string().min(1).max(254),
  email: line.describe('null: none'),
  email_verified: z.boolean(),
  ...textSchemas(line),
  phone_number: line.describe('A new number is unverified'),
  address: addressSchema.nullable().describe('Replaces the whole address; null: none'),
  sso_id: line.describe('The subject (`sub`, NameID, …) of the user at the connection `sso_connection`'),
  sso_connection: z
    .string()
    .max(64)
    .nullable()
    .describe('ID of the connection at which the user signs in with `sso_id`; null disconnects it'),
  attributes: z.record(z.string().max(64), z.json()).describe('As the setting user_attributes permits'),
};

const summaryFields = {
  id: z.string().describe('`sub` in tokens'),
  username: z.string(),
  email: z.string().nullable(),
  email_verified: z.boolean(),
  name: z.string().nullable(),
  active: z.boolean(),
  source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
  roles: z.array(z.string()),
  created_at: time,
  updated_at: time,
};

export const userSummary = z.object(summaryFields).meta({ id: 'UserSummary' });

export const user = z
  .object({
    ...summaryFields,
    ...textSchemas(z.string().nullable()),
    phone_number: z.string().nullable(),
    phone_number_verified: z.boolean().describe('The user entered a code that was sent to the number'),
    address: addressSchema.nullable(),
    sso_id: z.string().nullable(),
    attributes: z.record(z.string(), z.json()),
    permissions: z.array(z.string()).describe('resource:action of all roles together'),
  })
  .meta({ id: 'User' });

export const userDetails = user
  .extend({
    password: z
      .object({ must_change: z.boolean(), changed_at: time })
      .nullable()
      .describe('null: the user has no password'),
    second_factors: z.object({
      totp: z.boolean(),
      passkeys: z.int(),
      recovery_codes: z.int(),
      phone: z.string().nullable(),
    }),
    sso_connection: z.string().nullable().describe('The connection at which the user signs in with `sso_id`'),
    locked_seconds: z.int().describe('How long a new browser is locked out after wrong passwords'),
  })
  .meta({ id: 'UserDetails' });

export const password = z.string().min(limits.password.minWithMfa).max(limits.password.max);

/** A user of a list. */
export function summaryJson({ emailVerified, isActive, createdAt, updatedAt, ...account }: AccountSummary) {
  const { id, username, email, name, source, roles } = account;
  return {
    id,
    username,
    email,
    email_verified: emailVerified,
    name,
    active: isActive,
    source: source as 'local' | 'file',
    roles,
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
  };
}

/** A user with the whole profile. */
export function userJson(account: Account) {
  const { phoneNumber, phoneNumberVerified, address, ssoId, attributes, permissions } = account;
  return {
    ...summaryJson(account),
    ...(Object.fromEntries(textFieldNames.map((field) => [textFields[field].claim, account[field]])) as Record<
      TextClaim,
      string | null
    >),
    phone_number: phoneNumber,
    phone_number_verified: phoneNumberVerified,
    address,
    sso_id: ssoId,
    permissions,
    attributes: attributes as z.output<typeof user>['attributes'],
  };
}

/** A user with password state, second factors and lockout. */
export function detailsJson({ account, ssoConnection, password: stored, factors, lockedSeconds }: UserDetails) {
  const { totp, passkeys, recoveryCodes, phone = null } = factors;
  return {
    ...userJson(account),
    password: stored ? { must_change: stored.mustChange, changed_at: iso(stored.changedAt) } : null,
    second_factors: { totp, passkeys, recovery_codes: recoveryCodes, phone },
    sso_connection: ssoConnection,
    locked_seconds: lockedSeconds,
  };
}

/** `given_name` -> `givenName`, for the fields that are present. */
export function profileOf(fields: Record<string, unknown>): Partial<Profile> {
  const given = Object.keys(profileFields).filter((name) => fields[name] !== undefined);
  const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(given.map((name) => [camelCase(name), fields[name]])) as Partial<Profile>;
}

/** Awaits `work`; the fields of its error get the names of the API (`given_name`). */
export async function withApiFieldNames<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.faults.length === 0) throw error;
    // The names of attributes are those of their administrators.
    const faults = error.faults.map((one) => {
      const [name = '', ...rest] = one.path;
      return { ...one, path: [snakeCase(String(name)), ...rest] };
    });
    const { code, message, detail, headers } = error;
    throw new AppError(code, {
      message,
      faults,
      detail,
      headers,
      cause: error,
      ...(error.advice && { advice: error.advice }),
    });
  }
}
