// What every kind of connection declares: its identity, who may sign in with it, and which of its statements are trusted.

import { z } from 'zod';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { line, lineUpTo } from '../../../base/platform/line-schema.ts';
import { claimPath, domain } from './fields.ts';

/** The levels of a sign-in, weakest first; people/mfa/acr.ts has their acr values. */
export const signInLevels = ['password', 'mfa', 'phr'] as const;
export type SignInLevel = (typeof signInLevels)[number];

const perLevel = z.partialRecord(z.enum(signInLevels), z.array(lineUpTo(1024)).max(20));

/** The fields of an account that a connection fills in; `attributes.NAME` is an attribute of the setting user_attributes. */
export const accountFields = [
  'username',
  'email',
  'name',
  'given_name',
  'family_name',
  'picture',
  'locale',
  'zoneinfo',
  'phone_number',
] as const;
const accountField = z
  .string()
  .refine(
    (value) => (accountFields as readonly string[]).includes(value) || /^attributes\.[\w.#-]{1,64}$/.test(value),
    faultMessage('account-field', { values: accountFields.join(', ') }),
  )
  .meta({ pattern: `^(${accountFields.join('|')}|attributes\\.[A-Za-z0-9_.#-]{1,64})$` });

const role = z.string().min(1).max(100);

/** The columns and lists of a connection. */
export const commonHead = {
  id: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, faultMessage('connection-id')),
  preset: lineUpTo(40).default('generic'),
  name: lineUpTo(100),
  enabled: z.boolean().default(true),
  order: z.int().min(0).max(10_000).default(0), // of the buttons on the sign-in page; equal ones by id
  domains: z.array(domain).max(100).default([]), // email domains whose users sign in here
  role_mappings: z.record(line, z.union([role.transform((one) => [one]), z.array(role).min(1).max(50)])).default({}), // group -> role or roles
};

/** The settings that every kind has. */
export const commonSettings = {
  logo: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, faultMessage('mark'))
    .optional(), // absent: that of the preset
  show_button: z.boolean().default(true), // false: only by domain, login_hint or the parameter `connection`
  link_only: z.boolean().default(false), // users link it in their account and never arrive by it first
  create_users: z.boolean().default(false), // an account for each user without one
  update_profile: z.boolean().default(true), // name and address follow the upstream at each sign-in
  link: z.enum(['prove', 'trusted']).default('prove'), // trusted: without proof where docs/connections.md allows it
  required_for_domains: z.boolean().default(false), // users of its proven domains have no password here
  attributes: z.record(accountField, claimPath).default({}), // account field -> upstream name, beside the standard ones
  groups_claim: claimPath.optional(), // claim or attribute that lists the groups
  acr_values: perLevel.default({}), // what is requested for a level
  trusted_acr: perLevel.default({}), // acr or AuthnContext class -> what it proves
  trusted_amr: perLevel.default({}), // amr value -> what it proves
  login_hint: z.boolean().default(true), // send the address that was typed here
};

/** `never`: an address is always confirmed here; `verified`: as the upstream says; `domains`: of its proven domains. */
export const trustedEmail = z.enum(['never', 'verified', 'domains']);
/** Whether a logout here goes on to the upstream. */
export const logout = z.enum(['always', 'ask', 'never']);
