// Every command of the built program, with and without --json. What a command prints in detail is tested in the other files of this
// folder.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { some } from '../support/long-run.ts';
import { type CallOptions, commandLine, type Ended } from './support.ts';

const FILE = `
clients:
  - { client_id: shop, client_name: Shop, client_secret: replace-this-with-32-random-bytes, redirect_uris: [https://shop.example/cb], provision: { url: 'https://shop.example/scim/v2', token: a-token } }
proxied_applications:
  - { name: Notes, url: https://notes.example, proxy: caddy }
service_providers:
  - name: Wiki
    metadata_file: wiki.xml
resources:
  - { identifier: https://api.example, scopes: [read], clients: documents }
users:
  - { username: ann, email: ann@example.com, password: a long pass phrase that is fine }
`;
const METADATA = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://wiki.example/sp">
  <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://wiki.example/acs"/>
  </SPSSODescriptor>
</EntityDescriptor>`;
const STREAM = '{ id: hr, name: HR, url: "https://127.0.0.1/events", events: [user.*] }';
const CONNECTION =
  '{ id: corp, kind: oidc, name: Corp, issuer: https://corp.example, client_id: a, client_secret: secret-of-corp }';

let cli: Awaited<ReturnType<typeof commandLine>>;
let program: ReturnType<typeof cli.builtProgram>;
beforeAll(async () => {
  cli = await commandLine();
  program = cli.builtProgram();
  writeFileSync(path.join(cli.folder, 'gatehouse.yaml'), FILE);
  writeFileSync(path.join(cli.folder, 'wiki.xml'), METADATA);
});
afterAll(() => {
  program?.end();
  return cli.close();
});

/** The calls in order. `stdin`, and the exit code if it is not 0; `%` is 1 without and 2 with --json. */
const calls: { argv: string; stdin?: string; env?: Record<string, string>; code?: number }[] = [
  { argv: 'plan gatehouse.yaml' },
  { argv: 'apply gatehouse.yaml' },
  { argv: 'release roles:nothing', code: 1 },
  { argv: 'export' },
  { argv: 'export --only clients --no-users' },
  { argv: 'user add bob% --email bob%@example.com --role admin' },
  { argv: 'user add guest% --email guest%@example.com --invite --message Hello' },
  { argv: 'user set-period guest% --until 2040-01-01T00:00:00Z' },
  { argv: 'user list' },
  { argv: 'user import - --trial', stdin: 'username\ncsv-user' },
  { argv: 'user import - --update --invite --message Hello', stdin: 'username,email\ncsv-user,csv-user@example.com' },
  { argv: 'user invite bob% --message Hello', code: 1 },
  { argv: 'user show ann' },
  { argv: 'user set-password ann --password-stdin', stdin: 'another long pass phrase that is fine' },
  { argv: 'user unlock ann' },
  { argv: 'user agents ann' },
  { argv: 'user apps ann' },
  { argv: 'user factors ann' },
  { argv: 'user remove-factor ann totp', code: 1 },
  { argv: 'user reset-mfa ann' },
  { argv: 'user allow-factor ann' },
  { argv: 'user add-role ann admin --until 2040-01-01T00:00:00Z' },
  { argv: 'user remove-role ann admin' },
  { argv: 'user disable ann' },
  { argv: 'user enable ann' },
  { argv: 'group create Lab% --description Physics' },
  { argv: 'group create Science% --requests' },
  { argv: 'group add Lab% ann --until 2040-01-01T00:00:00Z' },
  { argv: 'group add-child Science% Lab%' },
  { argv: 'group add-owner Lab% ann' },
  { argv: 'group add-role Science% auditor', code: 1 },
  { argv: 'user hand-over ann bob% --item Lab%' },
  { argv: 'user hand-over bob% ann' },
  { argv: 'group list' },
  { argv: 'group show Lab1' },
  { argv: 'group remove-owner Lab% ann' },
  { argv: 'group add-role Lab% auditor' },
  { argv: 'group remove-role Lab% auditor' },
  { argv: 'group remove-child Science% Lab%' },
  { argv: 'group remove Lab% ann' },
  { argv: 'group delete Lab% --yes' },
  { argv: 'user export ann' },
  { argv: 'user delete guest% --yes' },
  { argv: 'mail test bob@example.com --selector s1' },
  { argv: 'mail test nobody', code: 1 },
  { argv: 'app list' },
  { argv: 'app show shop' },
  { argv: 'app show https://wiki.example/sp' },
  { argv: 'app show https://notes.example --proxy' },
  { argv: 'api list' },
  { argv: 'api show https://api.example' },
  { argv: 'app people shop' },
  { argv: 'app people Shop' },
  { argv: 'app people Sho', code: 1 },
  { argv: 'app provision shop' },
  { argv: 'app provision shop --preview' },
  { argv: 'app provision shop --compare' },
  { argv: 'app add --name News% --redirect-uri https://news.example/cb' },
  { argv: 'app add --name Grouped% --redirect-uri https://grouped.example.com/cb --group Desk% --create-groups' },
  { argv: 'app secret shop --keep 60' },
  { argv: 'app registration-token' },
  { argv: 'connection add -', stdin: CONNECTION.replace('corp,', 'corp%,') },
  { argv: 'connection list' },
  { argv: 'connection show corp1' },
  { argv: 'connection secret corp1', stdin: 'another secret' },
  { argv: 'connection disable corp1' },
  { argv: 'connection enable corp1' },
  { argv: 'connection remove corp%' },
  { argv: 'event-stream add -', stdin: STREAM.replace('hr,', 'hr%,').replace('HR,', 'HR%,') },
  { argv: 'event-stream list' },
  { argv: 'event-stream show hr1' },
  { argv: 'event-stream secret hr1' },
  { argv: 'event-stream test hr1', code: 1 },
  { argv: 'event-stream disable HR%' },
  { argv: 'event-stream enable HR%' },
  { argv: 'event-stream resume hr1' },
  { argv: 'event-stream replay hr1 --from 2026-01-01T00:00:00Z' },
  { argv: 'event-stream redeliver hr1 nothing', code: 1 },
  { argv: 'event-stream delete hr%' },
  { argv: 'api-key create bob1 --name Script --permission gatehouse.users:read' },
  { argv: 'api-key list' },
  { argv: 'api-key revoke no-such-key', code: 1 },
  { argv: 'sign-up-code create --name Partners% --uses 3' },
  { argv: 'sign-up-code list' },
  { argv: 'sign-up-code revoke no-such-code', code: 1 },
  { argv: 'keys list' },
  { argv: 'keys rotate --now' },
  { argv: 'audit verify' },
  { argv: 'audit checkpoints' },
  { argv: 'audit public-key' },
  { argv: 'audit accept-restore' },
  { argv: 'secrets rotate' },
  { argv: 'backup backup.db' },
  { argv: 'verify backup.db' },
  { argv: 'restore backup.db --replace', env: { DATABASE_URL: 'file:restored.db' } },
  { argv: 'upgrade check --backup backup.db' },
  { argv: 'doctor' },
];

const commandOf = (argv: string) => {
  const found = commands.find(({ name }) => `${argv} `.startsWith(`${name} `));
  if (!found) throw new Error(`no command: ${argv}`);
  return found;
};
function call(argv: string, number: number, { stdin = '', env = {} }: CallOptions): Promise<Ended> {
  const inFolder = (text: string) =>
    text.replaceAll('%', String(number)).replace(/\b\w+\.(yaml|db)$/, (file) => path.join(cli.folder, file));
  const variables = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, inFolder(value ?? '')]));
  return program.call(argv.split(' ').map(inFolder), { stdin: stdin.replaceAll('%', String(number)), env: variables });
}
const CRASH = /TypeError|ReferenceError|is not a (function|constructor)|\n {4}at /;

describe('the built program', () => {
  it('has a call of each command here, but of serve, which the tests of the server start', () => {
    const called = new Set(calls.map(({ argv }) => commandOf(argv).name));
    expect(commands.map(({ name }) => name).filter((name) => !called.has(name))).toEqual(['serve']);
  });

  // A call with a number needs what those before it made under the same number.
  const [numbered, others] = [true, false].map((is) =>
    calls.filter(({ argv, stdin = '' }) => `${argv}${stdin}`.includes('%') === is),
  );
  const asJson = new Set([...(numbered ?? []), ...some(6, others ?? [])]);

  it.each(calls)('runs gatehouse $argv', async (one) => {
    const { argv, code = 0, ...options } = one;
    const plain = await call(argv, 1, options);
    expect(plain.out + plain.err).not.toMatch(CRASH);
    expect(plain, plain.err).toMatchObject({ code });
    if (!commandOf(argv).options?.json || !asJson.has(one)) return;
    const json = await call(`${argv} --json`, 2, options);
    expect(json.err).not.toMatch(CRASH);
    expect(json, json.err).toMatchObject({ code });
    expect(() => JSON.parse(code === 0 || json.out ? json.out : json.err), json.out).not.toThrow();
  });
});
