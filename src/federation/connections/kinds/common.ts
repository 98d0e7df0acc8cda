// What every kind of connection declares: its identity, who may sign in with it, and which of its statements are trusted.

import { z } from 'zod';
import { emailDomain } from '../../../base/network/domains.ts';
import { line, lineUpTo } from '../../../base/schemas/line-schema.ts';
import { rule } from '../../../base/texts/faults.ts';
import { mappedFields, textFields } from '../../../people/accounts/profile-fields.ts';
import { claimPath, inSection } from './fields.ts';

/** The levels of a sign-in, weakest first; people/mfa/acr.ts has their acr values. */
export const signInLevels = ['password', 'mfa', 'phr'] as const;
const perLevel = z.partialRecord(z.enum(signInLevels), z.array(lineUpTo(1024)).max(20));

/** The fields of an account that a connection fills in; `attributes.NAME` is an attribute of the setting user_attributes. */
const accountFields: readonly string[] = [
  ...['username', 'email'],
  ...mappedFields.map((field) => textFields[field].claim),
  'phone_number',
];
const accountField = z
  .string()
  .refine(
    (value) => accountFields.includes(value) || /^attributes\.[\w.#-]{1,64}$/.test(value),
    rule('account-field', { values: accountFields.join(', ') }),
  )
  .meta({ pattern: `^(${accountFields.join('|')}|attributes\\.[A-Za-z0-9_.#-]{1,64})$` });

const role = z.string().min(1).max(100);

/** The columns and lists of a connection. */
export const commonHead = {
  ...inSection(null, {
    id: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, rule('connection-id'))
      .describe('up to 64 characters: a-z, 0-9 and `-`; part of its addresses, and it never changes'),
    preset: lineUpTo(40).default('generic').describe('one of the [presets](#presets)'),
  }),
  ...inSection('button', { name: lineUpTo(100).describe('on the button: “Sign in with NAME”') }),
  ...inSection(null, {
    enabled: z.boolean().default(true).describe('`false`: only administrators may try it'),
  }),
  ...inSection('button', {
    order: z.int().min(0).max(10_000).default(0).describe('order of the buttons, lowest first'),
    domains: z
      .array(emailDomain)
      .max(100)
      .default([])
      .describe('email domains whose users sign in here, see [domains](#domains)'),
  }),
  ...inSection('roles', {
    role_mappings: z
      .record(line, z.union([role.transform((one) => [one]), z.array(role).min(1).max(50)]))
      .default({})
      .describe('group of the upstream to a role or a list of roles, see [roles by group](#roles-by-group)'),
    group_mappings: z
      .record(line, z.union([role.transform((one) => [one]), z.array(role).min(1).max(50)]))
      .default({})
      .describe(
        'group of the upstream to a [group](groups.md) here or a list of them, see [roles by group](#roles-by-group)',
      ),
  }),
};

/** The settings that every kind has. */
export const commonSettings = {
  ...inSection('button', {
    logo: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/, rule('mark'))
      .optional()
      .describe('the name of a preset or kind; default: that of the preset'),
    show_button: z.boolean().default(true).describe('`false`: reached by a domain, `login_hint` or `connection` only'),
  }),
  ...inSection('users', {
    create_users: z.boolean().default(false).describe('makes an account for a user who has none'),
    update_profile: z.boolean().default(true).describe('name and address follow the upstream at each sign-in'),
    link: z
      .enum(['prove', 'trusted'])
      .default('prove')
      .describe('how an identity joins an existing account ([rule 3](#what-a-user-experiences))'),
    link_only: z.boolean().default(false).describe('only users who linked it in their account sign in with it'),
  }),
  ...inSection('button', {
    required_for_domains: z
      .boolean()
      .default(false)
      .describe('users of its proven domains, except administrators, sign in here only'),
  }),
  ...inSection('users', {
    attributes: z
      .record(accountField, claimPath)
      .default({})
      .describe(
        'account field to name or path at the upstream: `{ email: mail }`; `attributes.NAME` fills an attribute. `name#ja` is stored [with the tag](accounts.md#values-in-other-languages)',
      ),
  }),
  ...inSection('roles', {
    groups_claim: claimPath.optional().describe('the claim or attribute with the groups, such as `realm_access.roles`'),
  }),
  ...inSection('assurance', {
    acr_values: perLevel
      .default({})
      .describe('what is requested for a level (`password`, `mfa`, `phr`): `{ mfa: [urn:example:mfa] }`'),
    trusted_acr: perLevel.default({}).describe('acr values or AuthnContext classes that prove a level'),
    trusted_amr: perLevel.default({}).describe('the same for amr values'),
  }),
  ...inSection('button', {
    login_hint: z.boolean().default(true).describe('sends the address that the user typed'),
  }),
};

/** `never`: an address is always confirmed here; `verified`: as the upstream says; `domains`: of its proven domains. */
export const trustedEmail = z.enum(['never', 'verified', 'domains']);
/** Whether a logout here goes on to the upstream. */
export const logout = z.enum(['always', 'ask', 'never']);
