// /api/admin/users: users, their roles, credentials and second factors.
import { z } from 'zod';
import type { Tx } from '../../base/storage/database.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Answer, Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { done, flag, paged, pageOf, patchOf, text } from '../api/parts.ts';
import { endpointsOf, type Resource } from '../resource.ts';
import type { CreatedUser, NewUser, UserAdmin, UserDetails } from './actions.ts';
import {
  detailsJson,
  password,
  profileFields,
  profileOf,
  summaryJson,
  user,
  userDetails,
  userJson,
  userSummary,
  withApiFieldNames,
} from './api-shape.ts';
import { versionOf } from './lookup.ts';

const { username, ...optional } = profileFields;
/** A new user. */
export const newUser = z.strictObject({
  username,
  ...z.object(optional).partial().shape,
  active: z.boolean().optional(),
  roles: z.array(z.string().max(100)).max(100).optional().describe('Roles that the caller has or may manage'),
  password: password
    .optional()
    .describe('Without password, password_hash and invite a temporary password is generated and displayed once'),
  password_hash: z.string().max(1000).optional().describe('Argon2id, bcrypt, scrypt or PBKDF2, from another system'),
  invite: z.boolean().optional().describe('Emails a link with which the user chooses a password'),
});
/** The fields of a user to change. */
export const changedUser = patchOf(z.object(profileFields));
const createdUser = user.extend({ one_time_password: z.string().optional().describe('Displayed only now') });

export const userNoun = (users: UserAdmin): Resource<UserDetails> => ({
  names: ['User', 'Users'],
  tag: 'Users',
  api: '/users',
  home: '/admin/users',
  read: [within('gatehouse.users:read')],
  write: [within('gatehouse.users:write')],
  keyOf: ({ account }) => account.id,
  get: users.get,
  schema: userDetails,
  json: detailsJson,
  version: ({ account, ssoConnection }) => versionOf(account, ssoConnection),
});

/** /api/admin/users and everything below, except sessions. */
export function userEndpoints(users: UserAdmin): Endpoint[] {
  const { list, create, get, update, remove, action } = endpointsOf(userNoun(users));
  return [
    list({
      summary: 'The users, newest first',
      query: z.object({
        ...paged,
        search: text
          .optional()
          .describe(
            'Part of the username, email or name, in any case and spelling; with more than 100,000 users the beginning of one of these or of the last name, and the first 1,000 of each',
          ),
        active: flag.optional(),
        role: z.string().max(100).optional().describe('Name of a role'),
        source: z.enum(['local', 'file']).optional(),
      }),
      response: pageOf(userSummary),
      async handle({ cursor, active, ...query }, by) {
        const { accounts, next } = await users.list({ ...query, isActive: active, after: cursor }, by);
        return { items: accounts.map(summaryJson), next: next ?? null };
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
    action({
      method: 'put',
      path: '/roles',
      operationId: 'setUserRoles',
      needs: [within('gatehouse.roles:write', 'gatehouse.users:write')],
      summary: 'Sets the roles of the user',
      description: 'A caller can only give or take roles that it has or may manage.',
      response: user,
      versioned: 'changes',
      body: z.strictObject({ roles: z.array(z.string().max(100)).max(100) }),
      run: async ({ key, body, by, version }) => answer(users, await users.setRoles(key, body.roles, by, version)),
    }),
    ...(['enable', 'disable'] as const).map((verb) =>
      action({
        path: `/${verb}`,
        operationId: `${verb}User`,
        summary: verb === 'enable' ? 'Lets the user sign in again' : 'Disables the user and ends every session',
        response: user,
        versioned: 'shows',
        run: async ({ key, by }) => answer(users, await users.setActive(key, verb === 'enable', by)),
      }),
    ),
    action({
      path: '/invite',
      operationId: 'inviteUser',
      needs: [within('gatehouse.users:reset-password', 'gatehouse.users:write')],
      summary: 'Queues an invitation with which the user chooses a password',
      description: 'What becomes of it: GET /mail?user_id=…',
      response: done,
      status: 202,
      run: ({ key, by }) => users.invite(key, by).then(isDone),
    }),
    action({
      path: '/password-reset',
      operationId: 'sendPasswordReset',
      needs: [within('gatehouse.users:reset-password')],
      summary: 'Queues an email with a link with which the user chooses a new password',
      description: 'What becomes of it: GET /mail?user_id=…',
      response: done,
      status: 202,
      run: ({ key, by }) => users.sendPasswordReset(key, by).then(isDone),
    }),
    action({
      path: '/password',
      operationId: 'setPassword',
      summary: 'Sets a password, or generates a temporary password, and ends every session',
      body: z.strictObject({ password: password.optional() }),
      response: z.object({ one_time_password: z.string().optional().describe('Displayed only now') }),
      async run({ key, body, by }) {
        const { oneTimePassword } = await users.setPassword(key, body.password, by);
        return { body: oneTimePassword === undefined ? {} : { one_time_password: oneTimePassword } };
      },
    }),
    action({
      path: '/password-change',
      operationId: 'forcePasswordChange',
      summary: 'Requires a new password at the next sign-in, and ends every session',
      response: done,
      run: ({ key, by }) => users.forcePasswordChange(key, by).then(isDone),
    }),
    action({
      path: '/unlock',
      operationId: 'unlockUser',
      needs: [within('gatehouse.users:unlock')],
      summary: 'Ends the lockout after wrong passwords',
      response: done,
      run: ({ key, by }) => users.unlock(key, by).then(isDone),
    }),
    action({
      path: '/reset-factors',
      operationId: 'resetFactors',
      needs: [within('gatehouse.users:reset-factors')],
      summary: 'Removes all two-step verification methods of a user and ends all sessions',
      response: done,
      run: ({ key, by }) => users.resetFactors(key, by).then(isDone),
    }),
    action({
      path: '/allow-factor',
      operationId: 'allowFirstFactor',
      needs: [within('gatehouse.users:reset-factors')],
      summary: 'Lets a user set up two-step verification in the next seven days, regardless of `first_factor`',
      response: done,
      run: ({ key, by }) => users.allowFirstFactor(key, by).then(isDone),
    }),
  ];
}

/** As accounts take it. */
export function newUserOf(body: z.output<typeof newUser>): NewUser {
  const { active: isActive, roles = [], password: plain, password_hash: passwordHash, invite, username: name } = body;
  const user = { ...profileOf(body), username: name, isActive, roles, password: plain, passwordHash, invite };
  return Object.fromEntries(Object.entries(user).filter(([, value]) => value !== undefined)) as unknown as NewUser;
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
