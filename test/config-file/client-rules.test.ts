// Each rule of an OIDC client, a service provider and a user, beside what it lets through.
import { describe, expect, it } from 'vitest';
import { formatFault, parseFile } from '../../src/config-file/file.ts';
import { ec } from '../support/applications/registrations.ts';

function faultsOf(section: string, entry: Record<string, unknown>): string[] {
  return parseFile(JSON.stringify({ [section]: [entry] })).faults.map((fault) =>
    formatFault('', fault).replace(/^[^ ]+ \w+\[0\]\./, ''),
  );
}
const uri = 'https://a.example/cb';
const client = (more: object) => ({ client_id: 'web', redirect_uris: [uri], ...more });
const device = 'urn:ietf:params:oauth:grant-type:device_code';
const jwks = { keys: [ec()] };
const secret = 's'.repeat(32);

describe('a client', () => {
  it.each([
    [
      'loopback redirect URIs',
      { redirect_uris: ['http://127.0.0.1/cb', 'http://[::1]:1/cb', 'http://localhost:4000/cb'] },
    ],
    [
      'the redirect URIs of a native app',
      { application_type: 'native', redirect_uris: ['com.example.app:/cb', 'http://127.0.0.1/cb', uri] },
    ],
    ['no authentication', { token_endpoint_auth_method: 'none' }],
    ['client_credentials alone', { redirect_uris: [], grant_types: ['client_credentials'], client_secret: secret }],
    [
      'the device flow',
      { redirect_uris: [], grant_types: [device, 'refresh_token'], token_endpoint_auth_method: 'none' },
    ],
    ['a key pair', { token_endpoint_auth_method: 'private_key_jwt', jwks }],
    ['ID tokens signed with HS256', { id_token_signed_response_alg: 'HS256', client_secret: secret }],
    ['pairwise subjects', { subject_type: 'pairwise' }],
    ['access for some roles', { access: { roles: ['editor'] } }],
  ])('is accepted with %s', (_name, more) => {
    expect(faultsOf('clients', client(more))).toEqual([]);
  });

  it.each([
    [{ redirect_uris: ['http://a.example/cb'] }, 'redirect_uris[0] must be https (http only for localhost'],
    [{ redirect_uris: ['https://*.example/cb'] }, 'redirect_uris[0] must not have a wildcard'],
    [{ redirect_uris: ['https://u:p@a.example/cb'] }, 'redirect_uris[0] must not contain a username'],
    [{ redirect_uris: ['https:///cb'] }, 'redirect_uris[0] must be an absolute URI'],
    [{ redirect_uris: ['https:\\\\a.example'] }, 'redirect_uris[0] must not contain a backslash'],
    [{ redirect_uris: ['/cb'] }, 'redirect_uris[0] must be an https URL'],
    [{ redirect_uris: ['com.example.app:/cb'] }, 'redirect_uris[0] must be an https URL'],
    [
      { redirect_uris: ['javascript:alert(1)'], application_type: 'native' },
      'redirect_uris[0] must not use the scheme',
    ],
    [
      { redirect_uris: ['https://localhost/'], application_type: 'native' },
      'redirect_uris[0] must be http on a loopback',
    ],
    [{ redirect_uris: [uri, uri] }, 'redirect_uris must not repeat an entry'],
    [{ redirect_uris: [] }, 'redirect_uris can’t be empty'],
    [{ post_logout_redirect_uris: ['http://a.example/'] }, 'post_logout_redirect_uris[0] must be https'],
    [{ backchannel_logout_uri: 'http://a.example/' }, 'backchannel_logout_uri must be https'],
    [{ initiate_login_uri: 'http://localhost/' }, 'initiate_login_uri must be an https URL'],
    [{ client_id: 'two words' }, 'client_id must be visible ASCII'],
    [{ client_secret: 'short' }, 'client_secret must have at least 32 bytes'],
    [{ client_secret: secret, token_endpoint_auth_method: 'none' }, 'client_secret must not be set'],
    [{ grant_types: ['implicit'] }, 'grant_types[0] must not be implicit or password'],
    [{ grant_types: ['refresh_token'] }, 'grant_types: refresh_token needs'],
    [
      { grant_types: ['client_credentials'], redirect_uris: [], token_endpoint_auth_method: 'none' },
      'token_endpoint_auth_method must not be none',
    ],
    [{ response_types: ['token'] }, 'response_types[0] must be code'],
    [{ token_endpoint_auth_method: 'tls_client_auth' }, 'token_endpoint_auth_method must be one of'],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'jwks can’t be empty, because private_key_jwt needs'],
    [{ jwks, jwks_uri: uri }, 'jwks_uri can’t be combined with jwks'],
    [{ jwks: { keys: [{ kty: 'EC', d: 'private' }] } }, 'jwks.keys[0] must contain only the public part'],
    [{ token_endpoint_auth_signing_alg: 'RS256' }, 'token_endpoint_auth_signing_alg doesn’t fit'],
    [
      { id_token_signed_response_alg: 'none' },
      'id_token_signed_response_alg must be one of RS256, PS256, ES256, EdDSA, HS256',
    ],
    [
      { id_token_signed_response_alg: 'HS256', token_endpoint_auth_method: 'none' },
      'id_token_signed_response_alg must not be HS256',
    ],
    [{ subject_type: 'pairwise', redirect_uris: [uri, 'https://b.example/'] }, 'sector_identifier_uri can’t be empty'],
    [{ contacts: ['nobody'] }, 'contacts[0] must be an email address'],
    [{ default_acr_values: ['high'] }, 'default_acr_values[0] must be one of urn:gatehouse:acr:password'],
    [{ access: { roles: [] } }, 'access must be everyone, or { roles: [...], groups: [...] }'],
    [{ consent: 'never' }, 'consent must be one of explicit, implicit'],
  ])('is rejected with %j', (more, message) => {
    expect(faultsOf('clients', client(more))).toEqual([expect.stringContaining(message)]);
  });
});

describe('a service provider', () => {
  const sp = (more: object) => ({
    name: 'Wiki',
    entity_id: 'https://wiki.example',
    acs_url: 'https://wiki.example/acs',
    ...more,
  });
  it.each([
    [{ acs_url: undefined, entity_id: undefined }, 'name needs one of metadata_file, metadata_url'],
    [{ metadata_url: 'https://wiki.example/md' }, 'acs_url can’t be combined with metadata_url'],
    [{ entity_id: undefined }, 'acs_url needs entity_id'],
    [{ acs_url: 'http://wiki.example/acs' }, 'acs_url must be https'],
    [{ acs_url: 3 }, 'acs_url must be text or a list'],
    [
      { slo_url: [{ url: 'https://wiki.example/slo', binding: 'artifact' }] },
      'slo_url[0].binding must be one of redirect, post',
    ],
    [{ acs_url: [{ url: 'https://a.example/', index: 1 }, 'https://b.example/'] }, 'acs_url must not repeat an index'],
    [
      { acs_url: [0, 1].map((at) => ({ url: `https://${at}.example/`, default: true })) },
      'acs_url must have at most one default',
    ],
    [{ require_signed_requests: true }, 'require_signed_requests needs a signing certificate'],
    [{ encrypt_assertion: 'always' }, 'encrypt_assertion needs an encryption certificate'],
    [{ certificates: ['not a certificate'] }, 'certificates[0] must be an X.509 certificate'],
    [{ attributes: { mail: 'e_mail' } }, 'attributes.mail must be a field of the user'],
    [{ name_id_format: 'email' }, 'name_id_format must be one of persistent, transient'],
    [
      { acs_url: undefined, metadata: '<x/>', slo_url: 'https://wiki.example/slo' },
      'slo_url is allowed only with entity_id',
    ],
  ])('is rejected with %j', (more, message) => {
    expect(faultsOf('service_providers', sp(more))).toEqual([expect.stringContaining(message)]);
  });
});

describe('a user', () => {
  const hash = '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21l$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';
  it.each([
    [{ password: 'only 14 chars.' }, 'password must have at least 15 characters (8 with a totp_secret)'],
    [{ password: '7 chars', totp_secret: 'JBSWY3DPEHPK3PXP' }, 'password must have at least 8 characters'],
    [{ password: 'x'.repeat(15), password_hash: hash }, 'password_hash can’t be combined with password'],
    [
      { password_hash: '5f4dcc3b5aa765d61d8327deb882cf99' },
      'password_hash must be an Argon2id, bcrypt, scrypt or PBKDF2',
    ],
    [{ totp_secret: 'JBSW' }, 'totp_secret must be base32'],
    [{ username: 'two words' }, 'username: A username can’t contain spaces.'],
    [{ email: 'nobody' }, 'email: Enter an email address, such as name@example.com.'],
    [{ email_verified: true }, 'email_verified needs email too'],
    [{ given_name: 'x'.repeat(500) }, 'given_name: This value is too long.'],
    [{ sub: 'short' }, 'sub must be 8 to 64'],
  ])('is rejected with %j', (more, message) => {
    expect(faultsOf('users', { username: 'bob', ...more })).toEqual([expect.stringContaining(message)]);
  });

  it('may have a password hash of each kind', () => {
    const hashes = [
      hash,
      `$2b$12$${'a'.repeat(53)}`,
      '$scrypt$ln=16,r=8,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
      '$pbkdf2-sha256$29000$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
      'pbkdf2_sha256$600000$salt$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g=',
    ];
    expect(hashes.flatMap((password_hash) => faultsOf('users', { username: 'bob', password_hash }))).toEqual([]);
  });
});
