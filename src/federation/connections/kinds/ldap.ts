// The settings of a directory (LDAP, Active Directory): a bind behind the password form, read only.

import { FilterParser } from 'ldapts';
import { z } from 'zod';
import { isLoopback } from '../../../base/config/addresses.ts';
import { line, lineUpTo } from '../../../base/schemas/line-schema.ts';
import { type Fault, fault, rule } from '../../../base/texts/faults.ts';
import { commonHead, commonSettings, trustedEmail } from './common.ts';
import { authority, inSection, secretValues, webUri } from './fields.ts';

const dn = lineUpTo(1024);
const filter = z.string().min(3).max(2048).refine(isFilter, rule('ldap-filter')).meta({ pattern: '^\\([^]*\\)$' });
const ONE_URL = '[lL][dD][aA][pP][sS]?://[^\\s/?#@,]+/?';

export const ldapSettings = {
  ...commonSettings,
  ...inSection('upstream', {
    url: z
      .string()
      .max(2048)
      .regex(new RegExp(`^${ONE_URL}( +${ONE_URL}){0,9}$`), rule('ldap-url'))
      .describe('`ldaps://HOST[:PORT]`, or `ldap://` with `start_tls`; several with spaces'),
    start_tls: z.boolean().default(false).describe('before the password is sent'),
    ca: z.array(authority).max(10).default([]).describe('in PEM form: authorities in addition to those of the system'),
    bind_dn: dn.optional().describe('the account that searches; default: anonymous'),
    base_dn: dn.describe('where users are searched, with everything below'),
    filter: filter
      .default('(|(uid={username})(mail={username}))')
      .describe('finds exactly one user (RFC 4515); `{username}` is escaped'),
    subject_attribute: line
      .default('entryUUID')
      .describe('never changes: `entryUUID`, or `objectGUID` in Active Directory'),
    active_directory: z
      .boolean()
      .default(false)
      .describe('binary objectGUID, nested groups, primary group, `CORP\\name`, lockout of the domain'),
    lockout_threshold: z
      .int()
      .min(0)
      .max(999)
      .optional()
      .describe('[wrong passwords](#lockout-at-the-directory) after which the directory locks; `0`: never'),
    lockout_window_minutes: z
      .int()
      .min(1)
      .max(99_999)
      .optional()
      .describe('minutes after which the directory counts from zero'),
    password_url: webUri.optional().describe('where users change an expired password'),
  }),
  ...inSection('roles', {
    groups: z
      .strictObject({
        attribute: line.default('memberOf'), // of the user
        base_dn: dn.optional(), // where groups are searched instead of the attribute
        filter: filter.default('(member={dn})'), // {dn} is escaped
        name_attribute: line.default('cn'), // of the group; absent groups use the DN
        nested: z.boolean().default(false),
      })
      .optional()
      .describe('an attribute of the user (`memberOf`), or a search below `base_dn`'),
  }),
  ...inSection('users', {
    trusted_email: trustedEmail
      .default('domains')
      .describe('as for [oidc](#oidc); `verified` trusts every address that it holds'),
  }),
  ...inSection('assurance', {
    logout: z.literal('never').default('never').describe('a directory has no logout'),
  }),
};

export const ldapEntry = z.strictObject({
  ...commonHead,
  kind: z.literal('ldap'),
  ...ldapSettings,
  ...inSection(null, {
    bind_password: secretValues.optional().describe('as `client_secret` of [oidc](#oidc)'),
  }),
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
  const urls = directoryUrls(entry);
  const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : '');
  const isPlain = (url: string) => /^ldap:/i.test(url);
  if (urls.some((url) => hostOf(url) === '')) faults.push(fault(['url'], 'ldap-url'));
  if (!entry.start_tls && urls.some((url) => isPlain(url) && !isLoopback(hostOf(url))))
    faults.push(fault(['url'], 'ldap-encryption', { key: 'start_tls' }));
  if (entry.start_tls && !urls.every(isPlain)) faults.push(fault(['start_tls'], 'no-start-tls'));
  if (!entry.filter.includes('{username}')) faults.push(fault(['filter'], 'must-contain', { text: '{username}' }));
  if (entry.groups && !entry.groups.filter.includes('{dn}'))
    faults.push(fault(['groups', 'filter'], 'must-contain', { text: '{dn}' }));
  if (isUnstable(entry.subject_attribute)) faults.push(fault(['subject_attribute'], 'stable-identifier'));
  if (entry.bind_password !== undefined && entry.bind_dn === undefined)
    faults.push(fault(['bind_dn'], 'needed-by', { key: 'bind_password' }));
  if (entry.required_for_domains && entry.domains.length === 0)
    faults.push(fault(['required_for_domains'], 'needs-domains'));
  return faults;
}

/** The servers of the directory, in the order in which they are tried. */
export function directoryUrls({ url }: Pick<LdapSettings, 'url'>): string[] {
  return url.split(' ').filter((one) => one !== '');
}

/** RFC 4515. The parser of the LDAP client takes a missing parenthesis at the end for one that is there. */
function isFilter(text: string): boolean {
  if (!text.startsWith('(') || text.split('(').length !== text.split(')').length) return false;
  try {
    // A placeholder stands for a value of letters.
    FilterParser.parseString(text.replaceAll(/\{(username|dn)\}/g, 'x'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Attributes that change with a name, a position or a marriage, that are given to another person later, or that several people have;
 * also by their OID (RFC 4519, RFC 4524, MS-ADA).
 */
const UNSTABLE = [
  ...['dn', 'entryDN', 'distinguishedName', '1.3.6.1.1.20', '2.5.4.49', 'canonicalName', 'name', 'displayName'],
  ...['cn', 'commonName', '2.5.4.3', 'sn', 'surname', '2.5.4.4', 'givenName', 'gn', '2.5.4.42', 'initials', '2.5.4.43'],
  ...['uid', 'userid', '0.9.2342.19200300.100.1.1', 'mail', 'rfc822Mailbox', '0.9.2342.19200300.100.1.3', 'email'],
  ...[
    'emailAddress',
    '1.2.840.113549.1.9.1',
    'proxyAddresses',
    'mailNickname',
    'mailLocalAddress',
    'mailAlternateAddress',
  ],
  ...[
    'sAMAccountName',
    '1.2.840.113556.1.4.221',
    'userPrincipalName',
    '1.2.840.113556.1.4.656',
    'gecos',
    'homeDirectory',
  ],
  ...['msDS-PrincipalName', 'servicePrincipalName', 'krbPrincipalName', 'krbCanonicalName', 'uidNumber', 'gidNumber'],
  ...['telephoneNumber', '2.5.4.20', 'mobile', 'homePhone', 'title', '2.5.4.12', 'description', '2.5.4.13', 'o', 'ou'],
  ...[
    'department',
    'departmentNumber',
    'company',
    'l',
    'street',
    'manager',
    'employeeType',
    'objectClass',
    'objectCategory',
  ],
  ...['memberOf', 'primaryGroupID', 'userAccountControl', 'pwdLastSet', 'whenChanged', 'modifyTimestamp', 'uSNChanged'],
  ...['whenCreated', 'createTimestamp', 'lastLogon', 'userPassword', 'unicodePwd', 'instanceType'],
].map((name) => name.toLowerCase());

/** Without options such as `;lang-en` (RFC 4512 2.5). */
function isUnstable(attribute: string): boolean {
  return UNSTABLE.includes(attribute.trim().split(';', 1).join('').toLowerCase());
}
