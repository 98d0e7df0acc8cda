// The settings of a directory (LDAP, Active Directory): a bind behind the password form, read only.

import { z } from 'zod';
import { isLoopback } from '../../config/addresses.ts';
import { faultMessage } from '../../platform/fault-messages.ts';
import type { Fault } from '../../platform/faults.ts';
import { line, lineUpTo } from '../../platform/line-schema.ts';
import { commonHead, commonSettings, trustedEmail } from './common.ts';
import { authority, secretValues } from './fields.ts';

const dn = lineUpTo(1024);
const filter = z
  .string()
  .min(3)
  .max(2048)
  .regex(/^\(.*\)$/s, faultMessage('ldap-filter'));

export const ldapSettings = {
  ...commonSettings,
  url: z
    .string()
    .max(2048)
    .regex(/^ldaps?:\/\/[^\s/?#@]+\/?$/i, faultMessage('ldap-url')),
  start_tls: z.boolean().default(false),
  ca: z.array(authority).max(10).default([]), // authorities beside those of the system
  bind_dn: dn.optional(), // the account that searches; absent: anonymous
  base_dn: dn,
  filter: filter.default('(|(uid={username})(mail={username}))'), // {username} is escaped (RFC 4515 3)
  subject_attribute: line.default('entryUUID'), // objectGUID in Active Directory; never the DN or the address
  active_directory: z.boolean().default(false), // objectGUID is binary; nested groups by the matching rule in chain
  groups: z
    .strictObject({
      attribute: line.default('memberOf'), // of the user
      base_dn: dn.optional(), // where groups are searched instead of the attribute
      filter: filter.default('(member={dn})'), // {dn} is escaped
      name_attribute: line.default('cn'), // of the group; absent groups use the DN
      nested: z.boolean().default(false),
    })
    .optional(),
  trusted_email: trustedEmail.default('domains'),
  logout: z.literal('never').default('never'),
};

export const ldapEntry = z.strictObject({
  ...commonHead,
  kind: z.literal('ldap'),
  ...ldapSettings,
  bind_password: secretValues.optional(),
});

export type LdapSettings = z.output<z.ZodObject<typeof ldapSettings>>;

/** The standard attributes of accounts in a directory. */
export const ldapAttributes: Record<string, string> = {
  username: 'uid',
  email: 'mail',
  name: 'cn',
  given_name: 'givenName',
  family_name: 'sn',
};

/** Rules between the fields. */
export function checkLdapFields(entry: z.output<typeof ldapEntry>): Fault[] {
  const faults: Fault[] = [];
  const reject = (field: string, message: string) => faults.push({ path: [field], message });
  const isPlain = /^ldap:/i.test(entry.url);
  const host = URL.canParse(entry.url) ? new URL(entry.url).hostname : '';
  if (host === '') reject('url', faultMessage('ldap-url'));
  if (isPlain && !entry.start_tls && !isLoopback(host))
    reject('url', faultMessage('ldap-encryption', { key: 'start_tls' }));
  if (!isPlain && entry.start_tls) reject('start_tls', faultMessage('no-start-tls'));
  if (!entry.filter.includes('{username}')) reject('filter', faultMessage('must-contain', { text: '{username}' }));
  if (/^(dn|mail|cn|uid)$/i.test(entry.subject_attribute))
    reject('subject_attribute', faultMessage('stable-identifier'));
  if (entry.bind_password !== undefined && entry.bind_dn === undefined)
    reject('bind_dn', faultMessage('needed-by', { key: 'bind_password' }));
  if (entry.required_for_domains && entry.domains.length === 0)
    reject('required_for_domains', faultMessage('needs-domains'));
  return faults;
}
