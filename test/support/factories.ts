// Users and applications for tests, each with a name of its own.

import type { z } from 'zod';
import type { OidcClientInput } from '../../src/applications/fields/oidc-client.ts';
import type { Resource } from '../../src/applications/resources.ts';
import { randomToken } from '../../src/base/platform/random.ts';
import { resource, resourceInput } from '../../src/config-file/schema.ts';
import type { Account } from '../../src/people/accounts/account.ts';
import type { Services } from '../../src/server/services.ts';

export const PASSWORD = 'correct horse battery staple';

export interface TestUser {
  account: Account;
  username: string;
  password: string;
}

let count = 0;

/** A user with a password. */
export async function aUser(
  { accounts, credentials }: Services,
  {
    password = PASSWORD,
    mustChange = false,
    ...profile
  }: Partial<Parameters<Services['accounts']['create']>[0]> & { password?: string; mustChange?: boolean } = {},
): Promise<TestUser> {
  count += 1;
  const username = profile.username ?? `person${count}`;
  const account = await accounts.create({
    name: 'Ann Example',
    email: `${username}@example.com`,
    emailVerified: true,
    ...profile,
    username,
  });
  const result = await credentials.setPassword(account, password, { mustChange });
  if (result !== 'ok') throw new Error(`the password was rejected: ${result}`);
  return { account, username, password };
}

/** A user in so many new groups, whose names have 40 characters. */
export async function aUserInGroups(services: Services, many: number): Promise<TestUser> {
  const user = await aUser(services);
  for (let at = 0; at < many; at += 1) {
    const { id } = await services.groups.create({ name: `${user.username} group ${at} `.padEnd(40, 'x') });
    await services.groups.addMembers(id, [{ userId: user.account.id }]);
  }
  return user;
}

/** The ids, which are the usernames too, of so many accounts without a password. */
export async function manyUsers(services: Services, many: number): Promise<string[]> {
  const { account } = await aUser(services);
  const { address, attributes, roles, permissions, groups, state, isActive, wasUnused, ...columns } = account;
  const names = Array.from({ length: many }, (_, at) => `${account.id}-${at}`);
  for (let at = 0; at < many; at += 500)
    await services.db.user.createMany({
      data: names.slice(at, at + 500).map((name) => ({
        ...columns,
        id: name,
        username: name,
        usernameKey: name.toLowerCase(),
        email: null,
        emailKey: null,
        address: null,
        attributes: '{}',
        searchKey: name,
        nameKey: name,
      })),
    });
  return names;
}

/** An API, as the configuration file declares it. */
export function anApi({ resources }: Services, declared: z.input<typeof resource>): Promise<Resource> {
  const { identifier, ...entry } = resource.parse(declared);
  return resources.create(resourceInput(identifier, entry));
}

export interface TestClient {
  clientId: string;
  clientSecret: string;
  applicationId: string;
}

/** A confidential first-party web application by default. */
export async function aClient({ applications }: Services, input: Partial<OidcClientInput> = {}): Promise<TestClient> {
  count += 1;
  const clientId = input.client_id ?? `client${count}`;
  const method = input.token_endpoint_auth_method ?? 'client_secret_basic';
  const clientSecret = method.startsWith('client_secret') ? (input.client_secret ?? randomToken()) : '';
  const { application } = await applications.createOidc({
    client_name: 'Test application',
    consent: 'implicit',
    ...input,
    client_id: clientId,
    ...(clientSecret && { client_secret: clientSecret }),
  });
  return { clientId, clientSecret, applicationId: application.id };
}
