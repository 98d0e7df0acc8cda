// gatehouse.yaml: accepts every documented key, and reports every error with its line and path.
import { describe, expect, it } from 'vitest';
import { formatFault, parseFile } from '../../src/config-file/file.ts';

const contract = `
settings:
  session_hours: 12                 # SSO session
  access_token_minutes: 15          # 1 to 60
  reset_token_minutes: 20           # 15 to 30
  mfa: optional                     # off | optional | required
  self_registration: false
  outgoing_networks: []
  rate_limits: true
resources:
  - identifier: https://api.example.com
    scopes: [articles:read, articles:write]
    signing_alg: RS256
clients:
  - client_id: web
    client_secret: at-least-32-bytes-of-secret-material-here
    client_name: Web app
    redirect_uris: [http://127.0.0.1:4000/cb]
    post_logout_redirect_uris: [http://127.0.0.1:4000/]
    backchannel_logout_uri: http://127.0.0.1:4000/backchannel
    grant_types: [authorization_code, refresh_token]
    token_endpoint_auth_method: client_secret_basic
    consent: implicit
    access: everyone
service_providers:
  - name: Wiki
    metadata_file: ./wiki-sp.xml
    name_id_format: persistent
    attributes: { email: email, displayName: name, role: roles }
    sign: assertion
    encrypt_assertion: auto
    require_signed_requests: false
    idp_initiated: true
    access: everyone
roles:
  - name: editor
    description: Edits articles
    permissions: [articles:read, articles:write]
users:
  - username: alice
    email: alice@example.com
    email_verified: true
    name: Alice Example
    password: a long pass phrase that is fine
    totp_secret: JBSWY3DPEHPK3PXP
    roles: [editor]
`;

function faultsOf(text: string): string[] {
  return parseFile(text).faults.map((fault) => formatFault('f', fault));
}

it.each([
  ['service_providers', '{ name: Wiki, metadata: XML }'],
  ['connections', '{ id: corp, kind: saml, name: Corp, metadata: XML, attributes: { email: mail } }'],
] as const)('a document in %s has the line ends of the file, so that an export is readable', (section, entry) => {
  const { faults, declared } = parseFile(`${section}: [${entry.replace('XML', '"<a>\\r\\n</a>\\r"')}]`);
  expect(faults).toEqual([]);
  expect(JSON.stringify(declared[section])).toContain(JSON.stringify('<a>\n</a>\n'));
});

describe('the configuration file', () => {
  it.each([
    ['clients', 'name: Wiki', 'client_name'],
    ['clients', 'id: wiki', 'client_id'],
    ['clients', 'redirectUris: []', 'redirect_uris'],
    ['service_providers', 'client_name: Wiki', 'name'],
    ['service_providers', 'entityId: https://wiki.example', 'entity_id'],
    ['proxied_applications', 'client_name: Wiki', 'name'],
    ['resources', 'scope: [read]', 'scopes'],
    ['roles', 'permission: [a:b]', 'permissions'],
    ['groups', 'member: [alice]', 'members'],
    ['groups', 'group_name: Lab', 'name'],
    ['connections', 'kind: oidc, clientId: x', 'client_id'],
    ['connections', 'kind: saml, metadata_uri: x', 'metadata_url'],
    ['users', 'user: alice', 'username'],
    ['users', 'mail: alice@example.com', 'email'],
    ['sign_up_codes', 'expires: 2030-01-01', 'expires_at'],
    ['scim', 'tokens: x', 'token'],
    ['event_streams', 'secrets: x', 'secret'],
  ])('suggests the key that was meant in %s: %s', (section, entry, known) => {
    const [key = ''] = entry.split(', ').slice(-1)[0]?.split(':') ?? [];
    const sentence = `${section}[0].${key} isn’t a known field. Did you mean ${known}?`;
    expect(faultsOf(`${section}: [{ ${entry} }]`)).toContainEqual(expect.stringContaining(sentence));
  });

  it('accepts the documented example', () => {
    const { faults, declared } = parseFile(contract);
    expect(faults).toEqual([]);
    expect(declared.settings).toMatchObject({ session_hours: 12, mfa: 'optional', rate_limits: true });
    expect(declared.clients[0]).toMatchObject({ client_id: 'web', consent: 'implicit', access: 'everyone' });
    expect(declared.service_providers[0]).toMatchObject({ name: 'Wiki', idp_initiated: true });
    expect(declared.users[0]).toMatchObject({ username: 'alice', roles: ['editor'] });
  });

  it.each(['', '# only a comment', '---\n', 'null'])(
    'rejects a file without content, which may be cut off: %j',
    (text) => {
      expect(parseFile(text).faults).toMatchObject([{ code: 'empty-file', path: [], position: { line: 1 } }]);
    },
  );

  it.each(['{}', '# nothing any more\n{}', 'clients:\nusers: []\n'])(
    'accepts a file that declares nothing: %j',
    (text) => {
      expect(parseFile(text)).toMatchObject({ faults: [], declared: { clients: [], users: [], settings: {} } });
    },
  );

  it('reports an unknown key with its path, line and a suggestion', () => {
    const text = 'clients:\n  - client_id: web\n    redirect_uri: https://a.example/cb\nsetings: {}\n';
    expect(faultsOf(text)).toEqual([
      'f:3:5: clients[0].redirect_uri isn’t a known field. Did you mean redirect_uris?',
      'f:4:1: setings isn’t a known field. Did you mean settings?',
    ]);
  });

  it('reports the faults of every entry at once, in the order of the file', () => {
    const text = [
      'settings: { access_token_minutes: 61, mfa: sometimes, session_hours: "12" }',
      'resources: [{ identifier: api }, { identifier: "urn:a", scopes: [r], scope_permissions: { w: "a:w" } }]',
      'clients:',
      '  - client_id: web',
      '    redirect_uris: [https://a.example/cb#x]',
      '  - client_id: web',
      '    redirect_uris: [https://a.example/cb]',
      'roles: [{ name: editor, permissions: [read] }]',
      'users: [{ username: "", roles: editor }]',
    ].join('\n');
    expect(faultsOf(text)).toEqual([
      'f:1:13: settings.access_token_minutes must be at most 60, not 61.',
      'f:1:39: settings.mfa must be one of required, optional, off, not "sometimes".',
      'f:1:55: settings.session_hours must be a number, not text.',
      'f:2:15: resources[0].identifier must be an absolute URI such as https://api.example.com.',
      'f:2:91: resources[1].scope_permissions.w isn’t one of the scopes.',
      'f:5:21: clients[0].redirect_uris[0] must not have a fragment (#…).',
      'f:8:39: roles[0].permissions[0] must be resource:action, such as articles:read.',
      'f:9:25: users[0].roles must be a list, not text.',
    ]);
  });

  it('rejects duplicates in any spelling', () => {
    const client = (id: string) => `  - { client_id: ${id}, redirect_uris: ["https://a.example/cb"] }`;
    const user = (name: string, email: string) => `  - { username: ${name}, email: ${email} }`;
    const text = [
      'clients:',
      client('web'),
      client('web'),
      'service_providers:',
      '  - { name: Wiki, entity_id: web, acs_url: "https://wiki.example/acs" }',
      'users:',
      user('alice', 'a@example.com'),
      user('ALICE', 'A@Example.com'),
    ].join('\n');
    expect(faultsOf(text)).toEqual([
      expect.stringMatching(/^f:3:7: clients\[1\]\.client_id is already declared in clients\[0\]\.$/),
      expect.stringMatching(/^f:5:19: service_providers\[0\]\.entity_id is already the client_id of a client above\.$/),
      expect.stringMatching(/^f:8:7: users\[1\]\.username is already declared in users\[0\]\.$/),
      expect.stringMatching(/^f:8:24: users\[1\]\.email is already declared in users\[0\]\.$/),
    ]);
  });

  it.each([
    ['tabs and a bad indent', 'clients:\n\t- client_id: web', /^f:2:1: This isn’t valid YAML: /],
    ['a repeated key', 'roles: []\nroles: []', /^f:2:1: This isn’t valid YAML: Map keys must be unique/],
    ['an open bracket', 'roles: [', /^f:1:\d+: This isn’t valid YAML: /],
    ['a list at the top', '- a', /^f:1:1: The value must be a group of keys, not a list\.$/],
    ['two documents', 'roles: []\n---\nroles: []', /isn’t valid YAML/],
    [
      'an alias bomb',
      `a: &a [${'x, '.repeat(99)}]\nb: &b [${'*a, '.repeat(99)}]\nc: [${'*b, '.repeat(99)}]`,
      /too many aliases/,
    ],
  ])('rejects %s', (_name, text, message) => {
    expect(faultsOf(text)[0]).toMatch(message);
  });

  it.each([
    [
      'a value with NUL',
      'roles:\n  - name: editor\n    description: "a\\0b"',
      'gatehouse.yaml:3:5: roles[0].description ',
    ],
    [
      'a key with NUL',
      'users:\n  - username: ann\n    attributes: { "a\\0b": 1 }',
      'gatehouse.yaml:3:5: users[0].attributes ',
    ],
    [
      'half a character',
      'roles:\n  - name: editor\n    description: "a\\uD800"',
      'gatehouse.yaml:3:5: roles[0].description ',
    ],
  ])('is rejected with %s, which no database stores', (_what, text, place) => {
    const { faults } = parseFile(text);
    expect(faults.map((fault) => formatFault('gatehouse.yaml', fault))).toEqual([
      `${place}must not contain NUL or an incomplete character: no database stores them.`,
    ]);
  });

  it('never prints a secret', () => {
    const text = [
      'clients: [{ client_id: web, client_secret: hunter2, redirect_uris: ["https://a.example/cb"] }]',
      'users: [{ username: bob, password: hunter2, totp_secret: hunter2!, password_hash: hunter2 }]',
    ].join('\n');
    const faults = faultsOf(text);
    expect(faults).toHaveLength(4);
    expect(faults.join('\n')).not.toContain('hunter2');
  });
});
