// The switch "Name the session in front-channel logouts" does what it says (OpenID Connect Front-Channel Logout 1.0, section 2).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { frontChannelUrl } from '../../src/protocols/logout/front-channel/routes.ts';
import type { Participant } from '../../src/protocols/logout/logout-run.ts';
import { aClient } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it.each([
  [undefined, ['iss', 'sid']],
  [true, ['iss', 'sid']],
  [false, []],
] as const)('the URI has iss and sid unless the application wants neither (%s)', async (names, parameters) => {
  const { clientId } = await aClient(idp.services, {
    redirect_uris: ['https://app.example/cb'],
    frontchannel_logout_uri: 'https://app.example/logout?own=1',
    ...(names === undefined ? {} : { frontchannel_logout_session_required: names }),
  });
  const participant = { clientId, data: { sid: 'the-session' } } as Participant;
  const url = new URL((await frontChannelUrl(idp.services, participant)) ?? '');
  expect([...url.searchParams.keys()]).toEqual(['own', ...parameters]);
});
