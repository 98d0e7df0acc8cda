// The guide "A SaaS customer" of docs/groups.md: its file is applied as it is printed but for the address of the CRM.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSignIn, redirectUri, signIn } from '../oidc/support.ts';
import { relyingParty } from '../support/applications/rp.ts';
import { testFolder } from '../support/database/database.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const [, guide = ''] = readFileSync('docs/groups.md', 'utf8').split('\n## A SaaS customer');
const block = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';
const [, clientSecret = ''] = /client_secret: (\S+)/.exec(block('yaml')) ?? [];
const added = [...block('sh').matchAll(/^npx gatehouse group add (\S+) (\S+)$/gm)];
const password = 'a long pass phrase that is fine';

let idp: TestIdp;
beforeAll(async () => {
  const file = path.join(testFolder(), 'saas-customer.yaml');
  const entries = block('yaml').replace('https://crm.example.com/cb', redirectUri);
  writeFileSync(file, `${entries}users: [{ username: alice, email: alice@example.com, password: ${password} }]\n`);
  idp = await startIdp({ environment: { GATEHOUSE_CONFIG: file } });
});
afterAll(() => idp?.stop());

it('the guide leads to a sign-in for one customer, chosen by the user or named by the request', async () => {
  const { groups, accounts, roles } = idp.services;
  expect(added).toHaveLength(2);
  for (const [, group = '', member = ''] of added) {
    const { id } = (await groups.find(group)) ?? expect.fail(group);
    await groups.addMembers(id, [{ userId: (await accounts.findByLogin(member))?.id ?? expect.fail(member) }]);
  }
  const account = (await accounts.findByLogin('alice')) ?? expect.fail('no alice');
  expect((await roles.find('crm-admin'))?.name).toBe('crm-admin');
  const client = { clientId: 'crm', clientSecret, redirectUri };
  const rp = await relyingParty({ issuer: idp.issuer, ...client });
  const alice = { username: 'alice', password, account };
  const browser = httpClient(idp.issuer);
  const started = await rp.start({ scope: 'openid roles' });
  const asked = await completeSignIn(browser, started.url, { user: alice });
  expect(asked.text).toContain('Continue as');
  const back = await completeSignIn(browser, await browser.submit(asked, {}, { button: 'globex' }), { user: alice });
  const claims = (await rp.finish(back.location ?? '', started)).claims();
  expect(claims).toMatchObject({ group: { id: expect.any(String), name: 'globex' }, roles: [] });
  const crm = { ...client, applicationId: '', rp };
  const linked = await signIn(browser, crm, alice, { scope: 'openid roles', group: 'acme' });
  expect(linked.tokens.claims()).toMatchObject({ group: { name: 'acme' }, roles: ['crm-admin'] });
});
