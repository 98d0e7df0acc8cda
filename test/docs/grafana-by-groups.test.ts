// The guide "Grafana by groups" of docs/groups.md: its file is applied as it is printed but for the address of Grafana, and an application
// in the place of Grafana receives the claim that the settings of the guide read.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redirectUri, signIn } from '../oidc/support.ts';
import { relyingParty } from '../support/applications/rp.ts';
import { testClock } from '../support/clock.ts';
import { testFolder } from '../support/database/database.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const [, guide = ''] = readFileSync('docs/groups.md', 'utf8').split('\n## Grafana by groups');
const block = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';
/** What the guide in the console requests (views/products/development.yaml). */
const scope = 'openid profile email groups offline_access';
const [, allowed = ''] = /^allowed_groups = (.*)$/m.exec(block('ini')) ?? [];
const [, clientSecret = ''] = /client_secret: (\S+)/.exec(block('yaml')) ?? [];
const [, group = '', member = '', until = ''] = /gatehouse group add (\S+) (\S+) --until ([^\s`]+)/.exec(guide) ?? [];
const password = 'a long pass phrase that is fine';
const users = ['alice', member].map((username) => ({ username, email: `${username}@example.com`, password }));

let idp: TestIdp;
const clock = testClock();
beforeAll(async () => {
  const file = path.join(testFolder(), 'grafana-by-groups.yaml');
  const entries = block('yaml').replace('https://grafana.example.com/login/generic_oauth', redirectUri);
  writeFileSync(file, `${entries}users: ${JSON.stringify(users)}\n`);
  idp = await startIdp({ now: clock.now, environment: { GATEHOUSE_CONFIG: file } });
});
afterAll(() => idp?.stop());

const grafana = async () => {
  const client = { clientId: 'grafana', clientSecret, redirectUri };
  return { ...client, applicationId: '', rp: await relyingParty({ issuer: idp.issuer, ...client }) };
};
async function signInAs(username: string) {
  const { accounts } = idp.services;
  const account = (await accounts.findByLogin(username)) ?? expect.fail(`no ${username}`);
  return signIn(httpClient(idp.issuer), await grafana(), { username, password, account }, { scope });
}

describe('Grafana by groups', () => {
  it('gets the groups of an administrator, and those of a viewer until the end', async () => {
    const { groups, accounts } = idp.services;
    expect((await signInAs('alice')).tokens.claims()).toMatchObject({ groups: [allowed, 'grafana-admin'] });
    await expect(signInAs(member)).rejects.toThrow();
    const { id } = (await groups.find(group)) ?? expect.fail('no group');
    const { id: userId } = (await accounts.findByLogin(member)) ?? expect.fail('no member');
    // A guide has a date, which passes.
    expect(Number.isNaN(Date.parse(until))).toBe(false);
    await groups.addMembers(id, [{ userId, until: new Date(clock.now().getTime() + 60_000) }]);
    const { tokens } = await signInAs(member);
    expect(tokens.claims()).toMatchObject({ groups: [allowed] });
    clock.advance({ minutes: 1 });
    const { rp } = await grafana();
    await expect(rp.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(signInAs(member)).rejects.toThrow();
  });
});
