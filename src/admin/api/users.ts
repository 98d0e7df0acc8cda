// /api/admin/users: people, their roles, credentials and sessions.
import { z } from 'zod';
import { assertMay } from '../caller.ts';
import { type UserAdmin, versionOf } from '../users.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { byId, done, flag, paged, pageOf, patchOf, text } from './parts.ts';
import {
  inOurWords,
  password,
  profileFields,
  profileOf,
  showDetails,
  showSummary,
  showUser,
  user,
  userDetails,
  userSummary,
} from './user-shape.ts';

const tag = 'Users';
const read = ['gatehouse.users:read'] as const;
const write = ['gatehouse.users:write'] as const;

const { username, ...optional } = profileFields;
const newUser = z.strictObject({
  username,
  ...z.object(optional).partial().shape,
  active: z.boolean().optional(),
  roles: z.array(z.string().max(100)).max(100).optional().describe('Needs gatehouse.roles:write as well'),
  password: password
    .optional()
    .describe('Neither password, password_hash nor invite: a one-time password is made and shown once'),
  password_hash: z.string().max(1000).optional().describe('Argon2id, bcrypt, scrypt or PBKDF2, from another system'),
  invite: z.boolean().optional().describe('Mails a link with which the person chooses the password'),
});
const createdUser = user.extend({ one_time_password: z.string().optional().describe('Shown only now') });

export function userEndpoints(users: UserAdmin): Endpoint[] {
  const shown = (account: Parameters<typeof showUser>[0]) => ({ body: showUser(account), version: versionOf(account) });

  return [
    endpoint({
      ...{ method: 'get', path: '/users', operationId: 'listUsers', tag, needs: read },
      summary: 'The users, newest first',
      query: z.object({
        ...paged,
        search: text.optional().describe('Part of the user name, e-mail address or name, in any case and spelling'),
        active: flag.optional(),
        role: z.string().max(100).optional().describe('Name of a role'),
        source: z.enum(['local', 'file']).optional(),
      }),
      response: pageOf(userSummary),
      async handle({ query: { cursor, active, ...query } }) {
        const { accounts, next } = await users.list({ ...query, isActive: active, after: cursor });
        return { body: { items: accounts.map(showSummary), next: next ?? null } };
      },
    }),
    endpoint({
      ...{ method: 'post', path: '/users', operationId: 'createUser', tag, needs: write },
      summary: 'A new user',
      description: 'User names and addresses that differ only in case or by look-alike letters are the same (409).',
      ...{ body: newUser, response: createdUser, status: 201, versioned: 'shows', idempotent: true },
      async handle({ body, by, caller }) {
        const { active: isActive, roles = [], password: plain, password_hash: passwordHash, invite, ...profile } = body;
        if (roles.length > 0) assertMay(caller, ['gatehouse.roles:write']);
        const input = {
          ...profileOf(profile),
          username: body.username,
          isActive,
          roles,
          password: plain,
          passwordHash,
          invite,
        };
        const { account, oneTimePassword } = await inOurWords(users.create(withoutUndefined(input), by));
        const { body: shownUser, version } = shown(account);
        const secret = oneTimePassword === undefined ? {} : { one_time_password: oneTimePassword };
        return { body: { ...shownUser, ...secret }, version, location: `/users/${account.id}` };
      },
    }),
    endpoint({
      ...{ method: 'get', path: '/users/{id}', operationId: 'getUser', tag, needs: read },
      summary: 'One user, with password, second factors and pauses',
      ...{ params: byId, response: userDetails, versioned: 'shows' },
      async handle({ params }) {
        const details = await users.get(params.id);
        return { body: showDetails(details), version: versionOf(details.account) };
      },
    }),
    endpoint({
      ...{ method: 'patch', path: '/users/{id}', operationId: 'updateUser', tag, needs: write },
      summary: 'Changes the given fields; null empties one',
      ...{ params: byId, body: patchOf(z.object(profileFields)), response: user, versioned: 'changes' },
      handle: async ({ params, body, by, version }) =>
        shown(await inOurWords(users.update(params.id, profileOf(body), by, version))),
    }),
    endpoint({
      ...{ method: 'delete', path: '/users/{id}', operationId: 'deleteUser', tag, needs: write },
      summary: 'Deletes the user; the id is never given to anybody else',
      ...{ params: byId, versioned: 'changes', status: 204 },
      handle: async ({ params, by, version }) => void (await users.remove(params.id, by, version)),
    }),
    endpoint({
      ...{
        method: 'put',
        path: '/users/{id}/roles',
        operationId: 'setUserRoles',
        tag,
        needs: ['gatehouse.roles:write'],
      },
      summary: 'Makes these the roles of the user',
      description: 'Nobody gives or takes rights that they do not have.',
      ...{ params: byId, response: user, versioned: 'changes' },
      body: z.strictObject({ roles: z.array(z.string().max(100)).max(100) }),
      handle: async ({ params, body, by, version }) => shown(await users.setRoles(params.id, body.roles, by, version)),
    }),
    ...(['enable', 'disable'] as const).map((action) =>
      endpoint({
        ...{ method: 'post', path: `/users/{id}/${action}`, operationId: `${action}User`, tag, needs: write },
        summary: action === 'enable' ? 'Lets the user sign in again' : 'Keeps the user out and ends every session',
        ...{ params: byId, response: user, versioned: 'shows' },
        handle: async ({ params, by }) => shown(await users.setActive(params.id, action === 'enable', by)),
      }),
    ),
    endpoint({
      ...{ method: 'post', path: '/users/{id}/invite', operationId: 'inviteUser', tag, needs: write },
      summary: 'Mails an invitation with which the person chooses a password',
      ...{ params: byId, response: done, status: 202 },
      handle: ({ params, by }) => users.invite(params.id, by).then(isDone),
    }),
    endpoint({
      ...{ method: 'post', path: '/users/{id}/password-reset', operationId: 'sendPasswordReset', tag },
      needs: ['gatehouse.users:reset-password'],
      summary: 'Mails a link with which the person chooses a new password',
      ...{ params: byId, response: done, status: 202 },
      handle: ({ params, by }) => users.sendPasswordReset(params.id, by).then(isDone),
    }),
    endpoint({
      ...{ method: 'post', path: '/users/{id}/password', operationId: 'setPassword', tag, needs: write },
      summary: 'Sets a password, or makes one for one sign-in, and ends every session',
      ...{ params: byId, body: z.strictObject({ password: password.optional() }) },
      response: z.object({ one_time_password: z.string().optional().describe('Shown only now') }),
      async handle({ params, body, by }) {
        const { oneTimePassword } = await users.setPassword(params.id, body.password, by);
        return { body: oneTimePassword === undefined ? {} : { one_time_password: oneTimePassword } };
      },
    }),
    endpoint({
      ...{ method: 'post', path: '/users/{id}/password-change', operationId: 'forcePasswordChange', tag, needs: write },
      summary: 'Has the password changed at the next sign-in, and ends every session',
      ...{ params: byId, response: done },
      handle: ({ params, by }) => users.forcePasswordChange(params.id, by).then(isDone),
    }),
    endpoint({
      ...{
        method: 'post',
        path: '/users/{id}/unlock',
        operationId: 'unlockUser',
        tag,
        needs: ['gatehouse.users:unlock'],
      },
      summary: 'Ends the pause after wrong passwords',
      ...{ params: byId, response: done },
      handle: ({ params, by }) => users.unlock(params.id, by).then(isDone),
    }),
    endpoint({
      ...{ method: 'post', path: '/users/{id}/reset-factors', operationId: 'resetFactors', tag },
      needs: ['gatehouse.users:reset-factors'],
      summary: 'Removes every second factor of a person who lost them, and ends every session',
      ...{ params: byId, response: done },
      handle: ({ params, by }) => users.resetFactors(params.id, by).then(isDone),
    }),
  ];
}

const isDone = () => ({ body: { done: true as const } });

function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
