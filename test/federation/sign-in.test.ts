// Sign-in over an OpenID Connect connection, from the button to the application.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestIdp } from '../support/idp.ts';
import { isIn } from '../support/pages/enter.ts';
import { sharedIdp } from '../support/shared-idp.ts';
import { accountOf, anUpstream, type Connected, signInOver } from './support.ts';

let idp: TestIdp;
let corp: Connected;

beforeAll(async () => {
  idp = await sharedIdp();
  corp = await anUpstream(idp);
});
afterAll(() => corp.upstream.stop());

describe('sign-in over a connection', () => {
  it('makes an account for a new user and signs in to the application', async () => {
    corp.upstream.user = {
      sub: 'jit-1',
      email: 'jit.one@example.org',
      email_verified: true,
      name: 'Jit One',
      preferred_username: 'jit.one',
    };
    const { page } = await signInOver(idp, corp.connection);
    expect(isIn(page)).toBe(true);
    const account = await accountOf(idp, corp.connection, 'jit-1');
    expect(account).toMatchObject({
      username: 'jit.one',
      email: 'jit.one@example.org',
      emailVerified: true,
      name: 'Jit One',
    });
  });
});
