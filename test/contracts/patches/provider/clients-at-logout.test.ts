import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Configuration, errors, type Provider } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { skipRejectedClients } from '../../../../src/protocols/oidc/patches/clients.ts';
import { appUri, type Engine, showForm, signIn, startBareEngine } from '../../bare-engine.ts';

const reported: string[] = [];
const metadata = { client_id: 'app', client_secret: 'secret', redirect_uris: [appUri] };

const configuration: Configuration = {
  clients: [metadata],
  features: {
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true, logoutSource: showForm },
  },
} as Configuration;

let damaged = false;
/** The registration that the engine loads is invalid from now on, as one that is stored. */
function failWhenDamaged(provider: Provider): void {
  const { find } = provider.Client;
  provider.Client.find = async function findStored(id: string) {
    if (damaged) throw new errors.InvalidClientMetadata('client JSON Web Key Set is invalid');
    return find.call(provider.Client, id);
  };
}

const bare = await startBareEngine({ configuration, patch: failWhenDamaged });
const patched = await startBareEngine({
  configuration,
  patch(provider) {
    failWhenDamaged(provider);
    skipRejectedClients(provider, (clientId, fault) => void reported.push(`${clientId} ${fault}`));
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));
beforeEach(() => {
  damaged = false;
  reported.splice(0);
});

async function logOut(engine: Engine) {
  const { browser } = await signIn(engine);
  const page = await browser.get(`${engine.origin}${routes.end_session}`);
  damaged = true;
  return browser.submit(page, { logout: 'yes' });
}

describe('clients-at-logout', () => {
  it('is needed: the engine ends the logout at a client whose registration it rejects', async () => {
    expect((await logOut(bare)).status).toBe(400);
  });

  it('skips that client, and reports it', async () => {
    expect((await logOut(patched)).status).toBe(303);
    expect(reported).toEqual([expect.stringContaining('app ')]);
  });

  it('rejects it at the other endpoints as before', async () => {
    damaged = true;
    const { status } = await fetch(`${patched.origin}${routes.end_session}?client_id=app`);
    expect([status, reported]).toEqual([400, []]);
  });
});
