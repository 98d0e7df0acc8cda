// Users of the console in tests, signed in with the HTTP client.
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';

/** A new user with these roles. */
export async function staff({ services }: TestIdp, ...roles: string[]): Promise<TestUser> {
  const user = await aUser(services);
  for (const role of roles) await services.roles.assign(user.account.id, role);
  return user;
}

/** An HTTP client with the session of this user at the console. */
export async function consoleOf(idp: TestIdp, user: TestUser): Promise<HttpClient> {
  const client = httpClient(idp.issuer);
  const page = await client.follow(await client.get('/admin'));
  await client.follow(await client.submit(page, { username: user.username, password: user.password }));
  return client;
}
