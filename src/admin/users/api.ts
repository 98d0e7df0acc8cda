// /api/admin/users: users, their roles, credentials and second factors.
import { z } from 'zod';
import type { Tx } from '../../base/storage/database.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, done, flag, paged, pageOf, patchOf, text } from '../api/parts.ts';
import type { CreatedUser, UserAdmin } from './actions.ts';
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

const tag = 'Users';
const readPermissions = [within('gatehouse.users:read')];
const writePermissions = [within('gatehouse.users:write')];

const { username, ...optional } = profileFields;
const newUser = z.strictObject({
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
const createdUser = user.extend({ one_time_password: z.string().optional().describe('Displayed only now') });

/** /users and everything below, except sessions. */
export function userEndpoints(users: UserAdmin): Endpoint[] {
  return [
    ...collectionEndpoints(users),
    ...singleUserEndpoints(users),
    ...passwordEndpoints(users),
    ...recoveryEndpoints(users),
  ];
}

/** /users: the list, and a new user. */
function collectionEndpoints(users: UserAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/users',
      operationId: 'listUsers',
      tag,
      needs: readPermissions,
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
      async handle({ query: { cursor, active, ...query }, by }) {
        const { accounts, next } = await users.list({ ...query, isActive: active, after: cursor }, by);
        return { body: { items: accounts.map(summaryJson), next: next ?? null } };
      },
    }),
    endpoint({
      method: 'post',
      path: '/users',
      operationId: 'createUser',
      tag,
      needs: writePermissions,
      summary: 'A new user',
      description: 'Usernames and addresses that differ only in case or by look-alike letters are the same (409).',
      body: newUser,
      response: createdUser,
      status: 201,
      versioned: 'shows',
      idempotent: true,
      async handle({ body, by, record }) {
        const { active: isActive, roles = [], password: plain, password_hash: passwordHash, invite, ...profile } = body;
        const input = {
          ...profileOf(profile),
          username: body.username,
          isActive,
          roles,
          password: plain,
          passwordHash,
          invite,
        };
        const created = users.create(withoutUndefined(input), by, async (made, tx) =>
          record(await createdAnswer(users, made, tx), tx),
        );
        return createdAnswer(users, await withApiFieldNames(created));
      },
    }),
  ];
}

/** /users/{id}: profile, roles and state. */
function singleUserEndpoints(users: UserAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/users/{id}',
      operationId: 'getUser',
      tag,
      needs: readPermissions,
      summary: 'One user, with password, two-step verification and lockout',
      params: byId,
      response: userDetails,
      versioned: 'shows',
      async handle({ params, by }) {
        const details = await users.get(params.id, by);
        return { body: detailsJson(details), version: versionOf(details.account, details.ssoConnection) };
      },
    }),
    endpoint({
      method: 'patch',
      path: '/users/{id}',
      operationId: 'updateUser',
      tag,
      needs: writePermissions,
      summary: 'Changes the given fields; null empties one',
      params: byId,
      body: patchOf(z.object(profileFields)),
      response: user,
      versioned: 'changes',
      handle: async ({ params, body, by, version }) =>
        answer(users, await withApiFieldNames(users.update(params.id, profileOf(body), by, version))),
    }),
    endpoint({
      method: 'delete',
      path: '/users/{id}',
      operationId: 'deleteUser',
      tag,
      needs: writePermissions,
      summary: 'Deletes the user; the id is never used again',
      params: byId,
      versioned: 'changes',
      status: 204,
      handle: async ({ params, by, version }) => void (await users.remove(params.id, by, version)),
    }),
    endpoint({
      method: 'put',
      path: '/users/{id}/roles',
      operationId: 'setUserRoles',
      tag,
      needs: [within('gatehouse.roles:write', 'gatehouse.users:write')],
      summary: 'Sets the roles of the user',
      description: 'A caller can only give or take roles that it has or may manage.',
      params: byId,
      response: user,
      versioned: 'changes',
      body: z.strictObject({ roles: z.array(z.string().max(100)).max(100) }),
      handle: async ({ params, body, by, version }) =>
        answer(users, await users.setRoles(params.id, body.roles, by, version)),
    }),
    ...(['enable', 'disable'] as const).map((action) =>
      endpoint({
        method: 'post',
        path: `/users/{id}/${action}`,
        operationId: `${action}User`,
        tag,
        needs: writePermissions,
        summary: action === 'enable' ? 'Lets the user sign in again' : 'Disables the user and ends every session',
        params: byId,
        response: user,
        versioned: 'shows',
        handle: async ({ params, by }) => answer(users, await users.setActive(params.id, action === 'enable', by)),
      }),
    ),
  ];
}

/** The links that are mailed to a user, and the password. */
function passwordEndpoints(users: UserAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/users/{id}/invite',
      operationId: 'inviteUser',
      tag,
      needs: [within('gatehouse.users:reset-password', 'gatehouse.users:write')],
      summary: 'Queues an invitation with which the user chooses a password',
      description: 'What becomes of it: GET /mail?user_id=…',
      params: byId,
      response: done,
      status: 202,
      handle: ({ params, by }) => users.invite(params.id, by).then(isDone),
    }),
    endpoint({
      method: 'post',
      path: '/users/{id}/password-reset',
      operationId: 'sendPasswordReset',
      tag,
      needs: [within('gatehouse.users:reset-password')],
      summary: 'Queues an email with a link with which the user chooses a new password',
      description: 'What becomes of it: GET /mail?user_id=…',
      params: byId,
      response: done,
      status: 202,
      handle: ({ params, by }) => users.sendPasswordReset(params.id, by).then(isDone),
    }),
    endpoint({
      method: 'post',
      path: '/users/{id}/password',
      operationId: 'setPassword',
      tag,
      needs: writePermissions,
      summary: 'Sets a password, or generates a temporary password, and ends every session',
      params: byId,
      body: z.strictObject({ password: password.optional() }),
      response: z.object({ one_time_password: z.string().optional().describe('Displayed only now') }),
      async handle({ params, body, by }) {
        const { oneTimePassword } = await users.setPassword(params.id, body.password, by);
        return { body: oneTimePassword === undefined ? {} : { one_time_password: oneTimePassword } };
      },
    }),
    endpoint({
      method: 'post',
      path: '/users/{id}/password-change',
      operationId: 'forcePasswordChange',
      tag,
      needs: writePermissions,
      summary: 'Requires a new password at the next sign-in, and ends every session',
      params: byId,
      response: done,
      handle: ({ params, by }) => users.forcePasswordChange(params.id, by).then(isDone),
    }),
  ];
}

/** The help for a user who cannot sign in. */
function recoveryEndpoints(users: UserAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/users/{id}/unlock',
      operationId: 'unlockUser',
      tag,
      needs: [within('gatehouse.users:unlock')],
      summary: 'Ends the lockout after wrong passwords',
      params: byId,
      response: done,
      handle: ({ params, by }) => users.unlock(params.id, by).then(isDone),
    }),
    endpoint({
      method: 'post',
      path: '/users/{id}/reset-factors',
      operationId: 'resetFactors',
      tag,
      needs: [within('gatehouse.users:reset-factors')],
      summary: 'Removes all two-step verification methods of a user and ends all sessions',
      params: byId,
      response: done,
      handle: ({ params, by }) => users.resetFactors(params.id, by).then(isDone),
    }),
    endpoint({
      method: 'post',
      path: '/users/{id}/allow-factor',
      operationId: 'allowFirstFactor',
      tag,
      needs: [within('gatehouse.users:reset-factors')],
      summary: 'Lets a user set up two-step verification in the next seven days, regardless of `first_factor`',
      params: byId,
      response: done,
      handle: ({ params, by }) => users.allowFirstFactor(params.id, by).then(isDone),
    }),
  ];
}

/** A new user, with a temporary password that was generated. */
async function createdAnswer(users: UserAdmin, { account, oneTimePassword }: CreatedUser, tx?: Tx) {
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

function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
