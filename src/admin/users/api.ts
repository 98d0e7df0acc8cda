// /api/admin/users: users, their roles, credentials and second factors.

import { z } from 'zod';
import { OWN_DATA_FILE } from '../../account/own-data.ts';
import { imageLimits } from '../../applications/brand/limits.ts';
import { AppError } from '../../base/http/errors.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { defined } from '../../base/platform/defined.ts';
import type { Tx } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import { snakeCase } from '../../config-file/schema.ts';
import { invitationStates } from '../../core/mail/link-tokens.ts';
import { bytesOf, imageData } from '../../core/settings/value-schemas.ts';
import type { Account } from '../../people/accounts/account.ts';
import { type AccountSummary, accountSorts } from '../../people/accounts/account-list.ts';
import { accountStates, seenAt } from '../../people/accounts/active.ts';
import { MAX_NOTE } from '../../people/accounts/notes.ts';
import type { Profile } from '../../people/accounts/profile.ts';
import { addressSchema, textSchemas } from '../../people/accounts/profile-fields.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Answer, Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { byId, done, givenIn, givenTime, id, iso, jsonOf, paged, pageOf, patchOf, text, time } from '../api/parts.ts';
import { moment } from '../groups/groups.ts';
import { type EndpointsBelow, endpointsOf, type Resource } from '../resource.ts';
import { type CreatedUser, EXPORT, type NewUser, type UserAdmin, type UserDetails } from './actions.ts';
import { userGrantEndpoints } from './grants.ts';
import { handOverEndpoints } from './hand-over.ts';
import { versionOf } from './lookup.ts';

// A user in the API: the same field names as in the configuration file, converted from and to those of accounts.

const line = z.string().max(2000).nullable();

/** The fields that an administrator may set. */
const profileFields = {
  username: z.string().min(1).max(254),
  email: line.describe('null: none'),
  email_verified: z.boolean(),
  ...textSchemas(z.string().max(2000), (text) => text.nullable()),
  phone_number: line.describe('A new number is unverified'),
  address: addressSchema.nullable().describe('Replaces the whole address; null: none'),
  sso_id: line.describe('The subject (`sub`, NameID, …) of the user at the connection `sso_connection`'),
  sso_connection: z
    .string()
    .max(64)
    .nullable()
    .describe('ID of the connection at which the user signs in with `sso_id`; null disconnects it'),
  attributes: z.record(z.string().max(64), z.json()).describe('As the setting user_attributes permits'),
  active_from: moment.describe('The account can be used from then on; null: at once'),
  active_until: moment.describe('… and until then; null: no end'),
};

const summaryFields = {
  id: z.string().describe('`sub` in tokens'),
  username: z.string(),
  email: z.string().nullable(),
  email_verified: z.boolean(),
  name: z.string().nullable(),
  display_name: z.string().describe('The name, else the given and family name, else the username'),
  active: z.boolean().describe('false: disabled'),
  active_from: time.nullable(),
  active_until: time.nullable(),
  state: z
    .enum(accountStates)
    .describe('Whether the account can be used now; waiting: before active_from, ended: after active_until'),
  last_seen_at: time.nullable().describe('The day of the last use, in UTC; null: never'),
  source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
  roles: z.array(z.string()),
  terms_version: z.string().nullable().describe('Of the terms that the user accepted last'),
  terms_accepted_at: time.nullable(),
  created_at: time,
  updated_at: time,
};

/** In the summary and the details. */
const invitationField = {
  invitation_state: z
    .enum(invitationStates)
    .nullable()
    .describe(
      'Of the last invitation. bounced: the mail server rejected it; opened: perhaps by a program that checks links; needed: the user has neither a way to sign in nor an invitation; null: none is needed',
    ),
};

const userSummary = z.object({ ...summaryFields, ...invitationField }).meta({ id: 'UserSummary' });

const user = z
  .object({
    ...summaryFields,
    ...textSchemas(z.string(), (text) => text.nullable()),
    phone_number: z.string().nullable(),
    phone_number_verified: z.boolean().describe('The user entered a code that was sent to the number'),
    address: addressSchema.nullable(),
    sso_id: z.string().nullable(),
    attributes: z.record(z.string(), z.json()),
    permissions: z.array(z.string()).describe('resource:action of all roles together'),
  })
  .meta({ id: 'User' });

const detailFields = z.object({
  directory: z
    .object({
      id: z.string().describe('Of the SCIM connection'),
      name: z.string(),
      attributes: z.array(z.string()).describe('The own fields that it fills'),
      deleted_at: time.nullable().describe('When it deleted the user, whose account is kept for 30 days'),
    })
    .nullable()
    .describe('Manages the names, addresses and phone number'),
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
  ...invitationField,
  invitation: z
    .object({
      sent_at: time,
      expires_at: time,
      opened_at: time.nullable(),
      accepted_at: time.nullable(),
    })
    .nullable()
    .describe('The last invitation; null: none, or long ago'),
  locked_seconds: z.int().describe('How long a new browser is locked out after wrong passwords'),
  unused_end: z
    .object({
      what: z.enum(['disabled', 'deleted']),
      at: time.describe('At the soonest'),
      told_at: time.nullable().describe('The last email about it'),
      next_email_at: time.nullable(),
    })
    .nullable()
    .describe('What becomes of the account if nobody uses it; null: nothing'),
});
const userDetails = user.extend(detailFields.shape).meta({ id: 'UserDetails' });

const password = z.string().min(limits.password.minWithMfa).max(limits.password.max);

/** The fields that an account has otherwise. */
const ownFields = (account: Omit<AccountSummary, 'invitation'>) => ({
  display_name: displayName(account),
  active: account.isEnabled,
  last_seen_at: iso(seenAt(account)),
});

/** A user with the whole profile. */
export const userJson = (account: Account) =>
  jsonOf(user, account, {
    ...ownFields(account),
    address: account.address,
    attributes: account.attributes as z.output<typeof user>['attributes'],
  });

/** A user with password state, second factors and lockout. */
const detailsJson = ({ account, factors, unusedEnd, ...details }: UserDetails) => ({
  ...userJson(account),
  ...jsonOf(
    detailFields,
    { ...details, secondFactors: factors, unusedEnd: unusedEnd && { ...unusedEnd, nextEmailAt: unusedEnd.tellAt } },
    {},
  ),
});

/** The fields of a profile that are given, as accounts have them. */
export function profileOf(fields: Record<string, unknown>): Partial<Profile> {
  const own = Object.keys(profileFields).map((name) => [name, fields[name]]);
  return givenIn(Object.fromEntries(own)) as Partial<Profile>;
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

/** What an administrator adds to an invitation. */
export const invitationMessage = z
  .string()
  .max(limits.invitation.message)
  .describe('Plain text that the invitation contains');

const { username, ...optional } = profileFields;
/** A new user. */
export const newUser = z.strictObject({
  username,
  ...z.object(optional).partial().shape,
  active: z.boolean().optional(),
  roles: z.array(z.string().max(100)).max(100).optional().describe('Roles that the caller has or may manage'),
  groups: z.array(z.string().max(200)).max(100).optional().describe('Names of groups that the user joins'),
  password: password
    .optional()
    .describe('Without password, password_hash and invite a temporary password is generated and displayed once'),
  password_hash: z.string().max(1000).optional().describe('Argon2id, bcrypt, scrypt or PBKDF2, from another system'),
  invite: z.boolean().optional().describe('Emails a link with which the user chooses a password or makes a passkey'),
  invitation_message: invitationMessage.optional(),
});
/** The fields of a user to change. */
export const changedUser = patchOf(z.object(profileFields));
const createdUser = user.extend({ one_time_password: z.string().optional().describe('Displayed only now') });

export const userNoun = (users: UserAdmin): Resource<UserDetails> => ({
  names: ['User', 'Users'],
  tag: 'Users',
  api: '/users',
  home: '/admin/users',
  title: t('console.navigation.users'),
  nameOf: ({ account }) => displayName(account),
  declared: {
    what: 'user',
    entryOf: ({ account: { username: name, source } }) => ({ section: 'users', name, source }),
  },
  read: [within('gatehouse.users:read')],
  write: [within('gatehouse.users:write')],
  keyOf: ({ account }) => account.id,
  get: users.get,
  schema: userDetails,
  json: detailsJson,
  version: ({ account, ssoConnection }) => versionOf(account, ssoConnection),
});

const rows = z.array(z.record(z.string(), z.json()));
/** A list for each kind of data; `activity` is the audit log by and about the user. */
const ownData = z
  .object({
    issuer: z.string(),
    sub: z.string(),
    created_at: time,
    profile: z.record(z.string(), z.json()),
    activity: rows,
  })
  .catchall(rows)
  .meta({ id: 'OwnData' });

/** /api/admin/users and everything below, except sessions. */
export function userEndpoints(users: UserAdmin): Endpoint[] {
  const ofNoun = endpointsOf(userNoun(users));
  const { list, create, get, update, remove, action } = ofNoun;
  return [
    list({
      summary: 'The users, newest first',
      query: z.object({
        ...paged,
        search: text
          .optional()
          .describe(
            'Part of the username, email or name, or the beginning of a value of an own field, in any case and spelling; with more than 100,000 users the beginning of each, and the first 1,000 of each',
          ),
        state: z.enum(accountStates).optional(),
        last_seen_before: givenTime.optional().describe('Last used before then, or never and created before then'),
        sort: z.enum(accountSorts).optional(),
        role: z.string().max(100).optional().describe('Name of a role'),
        source: z.enum(['local', 'file']).optional(),
        invitation: z.enum(invitationStates).optional().describe('As `invitation_state`'),
      }),
      response: pageOf(userSummary),
      async handle({ cursor, last_seen_before: lastSeenBefore, ...query }, by) {
        const { accounts, next } = await users.list({ ...query, lastSeenBefore, after: cursor }, by);
        const items = accounts.map((one) =>
          jsonOf(userSummary, one, { ...ownFields(one), invitation_state: one.invitation }),
        );
        return { items, next: next ?? null };
      },
    }),
    create({
      summary: 'A new user',
      description: 'Usernames and addresses that differ only in case or by look-alike letters are the same (409).',
      body: newUser,
      response: createdUser,
      run: (body, by, onCreated: OnCreated<CreatedUser>) =>
        withApiFieldNames(users.create(newUserOf(body), by, onCreated)),
      answer: (made: CreatedUser, tx) => createdAnswer(users, made, tx),
    }),
    get({ summary: 'One user, with password, two-step verification and lockout' }),
    update({
      summary: 'Changes the given fields; null empties one',
      body: changedUser,
      response: user,
      run: async (id, body, by, version) =>
        answer(users, await withApiFieldNames(users.update(id, profileOf(body), by, version))),
    }),
    remove({ summary: 'Deletes the user; the id is never used again', run: users.remove }),
    action('setUserRoles', 'PUT /roles', {
      needs: [within('gatehouse.roles:write', 'gatehouse.users:write')],
      summary: 'Sets the roles that are given to the user directly',
      description:
        'A caller can only give or take roles that it has or may manage. A role that the user has keeps its end.',
      response: user,
      versioned: 'changes',
      body: z.strictObject({ roles: z.array(z.string().max(100)).max(100) }),
      run: async ({ key, body, by, version }) => answer(users, await users.setRoles(key, body.roles, by, version)),
    }),
    ...(['enable', 'disable'] as const).map((verb) =>
      action(`${verb}User`, `POST /${verb}`, {
        summary: verb === 'enable' ? 'Lets the user sign in again' : 'Disables the user and ends every session',
        response: user,
        versioned: 'shows',
        run: async ({ key, by }) => answer(users, await users.setActive(key, verb === 'enable', by)),
      }),
    ),
    action('setUserPicture', 'PUT /picture', {
      maxBodyBytes: imageLimits.requestBytes,
      summary: 'Uploads the picture, which the claim `picture` then names; an empty `picture` of the user removes it',
      body: z.strictObject({
        picture: imageData.describe(
          `A PNG or JPEG as a data URL such as data:image/png;base64,…, up to ${imageLimits.bytes / 1000} KB`,
        ),
      }),
      response: user,
      versioned: 'shows',
      async run({ key, body, by }) {
        await users.setPicture(key, bytesOf(body.picture), by);
        return answer(users, await users.find(key, by, 'gatehouse.users:write'));
      },
    }),
    action('inviteUser', 'POST /invite', {
      needs: [within('gatehouse.users:reset-password', 'gatehouse.users:write')],
      summary: 'Queues an invitation with which the user chooses a password or makes a passkey; again, too',
      description: 'What becomes of it: `invitation` of the user. The link of an earlier one ends.',
      body: z.strictObject({ message: invitationMessage.optional() }).optional(),
      response: done,
      status: 202,
      run: ({ key, body, by }) => users.invite(key, by, body?.message).then(isDone),
    }),
    action('sendPasswordReset', 'POST /password-reset', {
      needs: [within('gatehouse.users:reset-password')],
      summary: 'Queues an email with a link with which the user chooses a new password',
      description: 'What becomes of it: GET /mail?user_id=…',
      response: done,
      status: 202,
      run: ({ key, by }) => users.sendPasswordReset(key, by).then(isDone),
    }),
    action('setPassword', 'POST /password', {
      summary: 'Sets a password, or generates a temporary password, and ends every session and app password',
      body: z.strictObject({ password: password.optional() }),
      response: z.object({ one_time_password: z.string().optional().describe('Displayed only now') }),
      async run({ key, body, by }) {
        const { oneTimePassword } = await users.setPassword(key, body.password, by);
        return { body: oneTimePassword === undefined ? {} : { one_time_password: oneTimePassword } };
      },
    }),
    action('forcePasswordChange', 'POST /password-change', {
      summary: 'Requires a new password at the next sign-in, and ends every session and app password',
      response: done,
      run: ({ key, by }) => users.forcePasswordChange(key, by).then(isDone),
    }),
    action('unlockUser', 'POST /unlock', {
      needs: [within('gatehouse.users:unlock')],
      summary: 'Ends the lockout after wrong passwords',
      response: done,
      run: ({ key, by }) => users.unlock(key, by).then(isDone),
    }),
    action('resetFactors', 'POST /reset-factors', {
      needs: [within('gatehouse.users:reset-factors')],
      summary: 'Removes all two-step verification methods of a user and ends all sessions',
      response: done,
      run: ({ key, by }) => users.resetFactors(key, by).then(isDone),
    }),
    action('allowFirstFactor', 'POST /allow-factor', {
      needs: [within('gatehouse.users:reset-factors')],
      summary: 'Lets a user set up two-step verification in the next seven days, regardless of `first_factor`',
      response: done,
      run: ({ key, by }) => users.allowFirstFactor(key, by).then(isDone),
    }),
    action('exportUser', 'POST /export', {
      needs: EXPORT.map((one) => within(one)),
      summary: 'Everything that is stored about the user, as JSON (GDPR, article 15)',
      description: 'The user sees in their activity that an administrator has it. docs/privacy.md says what it has.',
      response: ownData,
      streams: ['application/json'],
      run: async ({ key, by }) => ({ stream: await users.export(key, by), ...OWN_DATA_FILE }),
    }),
    ...factorEndpoints(ofNoun, users),
    ...appPasswordEndpoints(ofNoun, users),
    ...consentEndpoints(ofNoun, users),
    ...noteEndpoints(ofNoun, users),
    ...userGrantEndpoints(ofNoun, users),
    ...handOverEndpoints(ofNoun, users),
  ];
}

const factor = z
  .object({
    id: z.string(),
    kind: z
      .enum(['passkey', 'totp', 'phone', 'recovery-codes', 'email'])
      .describe('email: codes, if the settings allow them'),
    name: z.string().nullable().describe('Of a passkey; the number of a phone; the address of an email'),
    added_at: time.nullable(),
    last_used_at: time.nullable(),
    left: z.int().optional().describe('Recovery codes that are not used yet'),
  })
  .meta({ id: 'UserFactor' });

/** The second factors of a user, one by one. */
const factorEndpoints = ({ items, action }: EndpointsBelow, users: UserAdmin): Endpoint[] => [
  items('listUserFactors', '/factors', {
    summary: 'The two-step verification methods of the user',
    item: factor,
    run: async ({ key, by }) => (await users.factorsOf(key, by)).map((one) => jsonOf(factor, one, { left: one.left })),
  }),
  action('removeUserFactor', 'DELETE /factors/{factor}', {
    needs: [within('gatehouse.users:reset-factors')],
    params: byId.extend({ factor: z.string().min(1).max(1400) }),
    summary: 'Removes one of them, except codes by email, and ends all sessions',
    status: 204,
    run: async ({ key, params, by }) => void (await users.removeFactor(key, params.factor, by)),
  }),
];

const note = z
  .object({ id: z.string(), text: z.string(), author: z.string().nullable().describe('Username'), created_at: time })
  .meta({ id: 'UserNote' });
/** A new note. */
export const newNote = z.strictObject({ text: z.string().trim().min(1).max(MAX_NOTE) });

/** What administrators write down about a user. */
const noteEndpoints = ({ items, action }: EndpointsBelow, users: UserAdmin): Endpoint[] => [
  items('listUserNotes', '/notes', {
    summary: 'The notes of administrators about the user, newest first',
    item: note,
    run: async ({ key, by }) =>
      (await users.notesOf(key, by)).map((one) => jsonOf(note, one, { author: one.author?.username ?? null })),
  }),
  action('addUserNote', 'POST /notes', {
    summary: 'Adds a note, which neither the user nor applications see',
    body: newNote,
    response: z.object({ id: z.string() }),
    status: 201,
    run: async ({ key, body, by }) => ({ body: { id: (await users.addNote(key, body.text, by)).id } }),
  }),
  action('removeUserNote', 'DELETE /notes/{note}', {
    params: byId.extend({ note: id }),
    summary: 'Deletes a note',
    status: 204,
    run: async ({ key, params, by }) => void (await users.removeNote(key, params.note, by)),
  }),
];

/** As accounts take it. */
export function newUserOf(body: z.output<typeof newUser>): NewUser {
  const { active: isEnabled, roles = [], groups = [], password: plain, password_hash: passwordHash } = body;
  const { username: name, invite, invitation_message: message } = body;
  const user = { ...profileOf(body), username: name, isEnabled, roles, groups, password: plain, passwordHash };
  return defined({ ...user, invite, message });
}

/** A new user, with a temporary password that was generated. */
async function createdAnswer(
  users: UserAdmin,
  { account, oneTimePassword }: CreatedUser,
  tx?: Tx,
): Promise<Answer<object>> {
  const { body, version } = await answer(users, account, tx);
  const secret = oneTimePassword === undefined ? {} : { one_time_password: oneTimePassword };
  return { body: { ...body, ...secret }, version, location: `/users/${account.id}` };
}

/** A user, with the version for the ETag. */
async function answer(users: UserAdmin, account: Account, tx?: Tx) {
  const ssoConnection = (await users.connectionsOf([account], tx)).get(account.id) ?? null;
  return { body: userJson(account), version: versionOf(account, ssoConnection) };
}

const isDone = () => ({ body: { done: true as const } });

const appPassword = z
  .object({
    id: z.string(),
    name: z.string(),
    website: z.string().describe('The address of the website that it is for'),
    created_at: time,
    last_used_at: time.nullable().describe('At most a minute old'),
  })
  .meta({ id: 'AppPassword' });

/** The app passwords of a user, which only the user creates. */
const appPasswordEndpoints = ({ items, action }: EndpointsBelow, users: UserAdmin): Endpoint[] => [
  items('listUserAppPasswords', '/app-passwords', {
    summary: 'The app passwords of the user, with which programs sign in to websites behind a proxy',
    item: appPassword,
    run: async ({ key, by }) =>
      (await users.appPasswordsOf(key, by)).map((one) => jsonOf(appPassword, one, { website: one.origin })),
  }),
  action('revokeUserAppPassword', 'DELETE /app-passwords/{password}', {
    needs: [within('gatehouse.users:reset-factors')],
    params: byId.extend({ password: z.string().min(1).max(64) }),
    summary: 'Revokes one of them',
    status: 204,
    run: async ({ key, params, by }) => void (await users.revokeAppPassword(key, params.password, by)),
  }),
];

const consent = z
  .object({
    application: z.string().describe('Id of the application'),
    client_id: z.string(),
    name: z.string(),
    is_implicit: z.boolean().describe('It has access without a question to the user'),
    scopes: z.array(z.string()).describe('Those of OpenID Connect'),
    claims: z.array(z.string()),
    resources: z.record(z.string(), z.array(z.string())).describe('API to its scopes'),
    granted_at: time,
    last_used_at: time.nullable().describe('When it last got a token'),
  })
  .meta({ id: 'Consent' });

/** The applications and agents with access to the account of a user. */
const consentEndpoints = ({ items, action }: EndpointsBelow, users: UserAdmin): Endpoint[] => [
  items('listUserConsents', '/consents', {
    needs: [within('gatehouse.sessions:read')],
    summary: 'The applications and agents with access to the account of the user',
    item: consent,
    run: async ({ key, by }) =>
      (await users.consentsOf(key, by)).map(({ applicationId, applicationName, granted, lastUsedAt, ...one }) =>
        jsonOf(
          consent,
          { ...one, ...granted },
          { application: applicationId, name: applicationName, last_used_at: iso(lastUsedAt) },
        ),
      ),
  }),
  action('removeUserConsent', 'DELETE /consents/{application}', {
    needs: [within('gatehouse.sessions:end')],
    params: byId.extend({ application: z.string().min(1).max(64) }),
    summary: 'Removes the access of one of them, and ends its tokens',
    status: 204,
    run: async ({ key, params, by }) => void (await users.removeConsent(key, params.application, by)),
  }),
];
