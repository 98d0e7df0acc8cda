// `gatehouse app add`: registers an OIDC client from options, or a SAML service provider from its metadata. Without options,
// on a terminal, it is interactive.
import { readFile } from 'node:fs/promises';
import type { Access, OidcClientInput } from '../applications/fields/oidc-client.ts';
import { SamlError } from '../protocols/saml/xml/errors.ts';
import type { Services } from '../server/services.ts';
import { askForApplication } from './app-wizard.ts';
import { printSecret } from './apps.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { type Io, plain } from './io.ts';

const many = (value: string, help: string) => ({ type: 'string', value, multiple: true, help }) as const;

export const appAdd: Command = {
  name: 'app add',
  summary: 'add an application; prints its client secret once',
  details: `Without options on a terminal, it asks for each value.
OpenID Connect: gatehouse app add --name Shop --redirect-uri https://shop.example.com/callback
SAML:           gatehouse app add --name Wiki --saml-metadata wiki-sp.xml (or an https URL)
All other settings are in the configuration file and the console.`,
  options: {
    name: { type: 'string', value: 'NAME', help: 'name that people see' },
    'client-id': { type: 'string', value: 'ID', help: 'OIDC client_id (default: generated)' },
    'redirect-uri': many('URI', 'redirect URI for authorization responses'),
    'post-logout-redirect-uri': many('URI', 'post-logout redirect URI'),
    'backchannel-logout-uri': { type: 'string', value: 'URI', help: 'back-channel logout URI' },
    grant: many('GRANT', 'authorization_code (default), refresh_token, client_credentials, device'),
    resource: many('URI', 'API that the application may call, such as ISSUER/api/admin'),
    scope: { type: 'string', value: 'SCOPES', help: 'allowed scopes, separated by spaces' },
    'auth-method': { type: 'string', value: 'METHOD', help: 'client_secret_basic (default), client_secret_post, …' },
    profile: { type: 'string', value: 'PROFILE', help: 'high security: fapi2 or fapi2-signing; needs --jwks-uri' },
    'jwks-uri': { type: 'string', value: 'URL', help: "URL of the application's public keys" },
    public: { type: 'boolean', help: 'browser or mobile app without a secret' },
    native: { type: 'boolean', help: 'mobile or desktop app' },
    'first-party': { type: 'boolean', help: 'skip the consent screen' },
    role: many('ROLE', 'give access only to people with this role'),
    'saml-metadata': {
      type: 'string',
      value: 'FILE|URL',
      help: 'metadata of the SAML service provider, a file or an https URL',
    },
    'idp-initiated': { type: 'boolean', help: 'SAML: show it in the app list' },
    ...jsonOption,
  },
  run: (given, io) =>
    withServices(
      io,
      async (services) => {
        const input = given.isEmpty && io.ask ? await askForApplication(io.ask, io, services) : given;
        return input.text('saml-metadata') === undefined
          ? addClient(input, io, services)
          : addProvider(input, io, services);
      },
      { mayBegin: true },
    ),
};

async function addClient(input: Input, io: Io, { applications, config }: Services): Promise<number> {
  const isPublic = input.flag('public');
  const grants = input
    .texts('grant')
    .map((grant) => (grant === 'device' ? 'urn:ietf:params:oauth:grant-type:device_code' : grant));
  const resources = input.texts('resource');
  const given = {
    client_id: input.text('client-id'),
    client_name: input.text('name'),
    redirect_uris: input.texts('redirect-uri'),
    post_logout_redirect_uris: input.texts('post-logout-redirect-uri'),
    backchannel_logout_uri: input.text('backchannel-logout-uri'),
    grant_types: grants.length > 0 ? grants : undefined,
    resources: resources.length > 0 ? resources : undefined,
    scope: input.text('scope'),
    profile: input.text('profile'),
    jwks_uri: input.text('jwks-uri'),
    token_endpoint_auth_method: isPublic ? 'none' : input.text('auth-method'),
    application_type: input.flag('native') ? 'native' : undefined,
    consent: input.flag('first-party') ? 'implicit' : undefined,
    access: accessOf(input),
  };
  // Values are not validated here; the registration does that.
  const client = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { application, clientSecret } = await applications.createOidc(client as Partial<OidcClientInput>);
  if (input.flag('json')) {
    io.json({ client_id: application.clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) });
    return 0;
  }
  io.out(`Added ${plain(application.name)}.`);
  io.out(`Issuer:        ${config.issuer}`);
  io.out(`Client ID:     ${application.clientId}`);
  if (clientSecret) printSecret(clientSecret, io);
  return 0;
}

async function addProvider(input: Input, io: Io, services: Services): Promise<number> {
  const { applications, now, fetchMetadata } = services;
  const source = input.text('saml-metadata') ?? '';
  const isUrl = /^https?:\/\//.test(source);
  const xml = await (isUrl ? fetchMetadata(source) : readDocument(source)).catch(unreadable);
  const { metadataFaults, serviceProvider, settingsOf } = await import('../applications/fields/service-provider.ts');
  const metadata = await parsed(xml, now());
  const name = input.text('name') ?? metadata.displayName ?? metadata.entityId;
  const entry = serviceProvider.parse({
    name,
    ...(isUrl ? { metadata_url: source } : { metadata: xml }),
    idp_initiated: input.flag('idp-initiated'),
    access: accessOf(input) ?? 'everyone',
  });
  const [fault] = metadataFaults(entry, metadata);
  if (fault) throw new UsageError(`--saml-metadata: ${fault.path.join('.')} ${fault.message}`);
  const { enabled, consent, access } = entry;
  const declared = { entityId: metadata.entityId, name, enabled, consent, access, settings: settingsOf(entry, xml) };
  const application = await applications.createSaml(declared);
  if (input.flag('json')) io.json({ entity_id: application.clientId, name: application.name });
  else {
    io.out(`Added ${plain(application.name)}.`);
    const { metadataWarnings } = await import('../protocols/saml/metadata/warnings.ts');
    for (const warning of metadataWarnings(metadata)) io.out(`Warning: ${plain(String(warning))}`);
    io.out(`Entity ID: ${plain(application.clientId)}`);
    io.out(`Metadata of Gatehouse: ${services.config.issuer}/saml/metadata`);
  }
  return 0;
}

function accessOf(input: Input): Access | undefined {
  const roles = input.texts('role');
  return roles.length > 0 ? { roles } : undefined;
}

async function readDocument(file: string): Promise<string> {
  const octets = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} can't be read (${error.code})`);
  });
  const { decodeXml } = await import('../protocols/saml/xml/encoding.ts');
  return decodeXml(octets);
}

function unreadable(error: unknown): never {
  throw new UsageError(`--saml-metadata: ${error instanceof Error ? error.message : String(error)}`);
}

async function parsed(xml: string, now: Date) {
  const { parseServiceProviderMetadata } = await import('../protocols/saml/metadata/parse.ts');
  try {
    return parseServiceProviderMetadata(xml, now);
  } catch (error) {
    if (error instanceof SamlError) throw new UsageError(`--saml-metadata: ${error.message}`);
    throw error;
  }
}
