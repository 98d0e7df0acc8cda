// `gatehouse app …`: the registered applications of both protocols, their secrets, and new ones.

import { access, readFile } from 'node:fs/promises';
import type { previewJson } from '../admin/applications/provisioning.ts';
import type { Application } from '../applications/application.ts';
import type { Access, OidcClientInput } from '../applications/fields/oidc-client.ts';
import type { AccessWay } from '../applications/people.ts';
import { redirectUriFault, resourceFault } from '../applications/uris.ts';
import { fullName } from '../base/http/pages/tokens.ts';
import { defined } from '../base/platform/defined.ts';
import { messageOf } from '../base/platform/errors.ts';
import { type Fault, fault, faultLine, sentenceOf } from '../base/texts/faults.ts';
import { createRegistrationTokens } from '../protocols/oidc/store/registration-tokens.ts';
import { SamlError } from '../protocols/saml/xml/errors.ts';
import type { Services } from '../server/services.ts';
import { type Commands, fail, type Input, inputOf, noSuch, type Result, UsageError } from './command.ts';
import { formatDate, type Io, plain, secretLines } from './io.ts';

const many = (value: string, help: string) => ({ type: 'string', value, multiple: true, help }) as const;

const DECISIONS = ['compare', 'pause', 'resume', 'approve'] as const;
type Preview = ReturnType<typeof previewJson>;
const CHANGES = ['create', 'update', 'deactivate', 'delete'] as const;

const PEOPLE_PAGE = 200;

const PROTOCOLS = { oidc: 'OpenID Connect', saml: 'SAML', proxy: 'Website behind a reverse proxy' } as const;

export const appCommands: Commands = {
  'app list': {
    summary: 'list all applications',
    async act({ applications }) {
      const all = await applications.all();
      return {
        json: all.map(({ metadata: _metadata, ...application }) => application),
        table: [
          ['IDENTIFIER', 'NAME', 'PROTOCOL', 'ACCESS', 'ENABLED', 'SOURCE'],
          all.map(({ clientId, name, protocol, access, enabled, source }) => [
            ...[clientId, name, protocol, accessText(access), enabled ? 'yes' : 'no', source],
          ]),
        ],
      };
    },
  },

  'app show': {
    args: ['IDENTIFIER|NAME'],
    summary: 'show an application in the format of the configuration file',
    options: { proxy: { type: 'boolean', help: 'show the configuration of the reverse proxy of a website instead' } },
    async act(services, input) {
      const application = await appOf(services, input);
      if (input.flag('proxy')) return proxyOf(application, services);
      const { protocol, source, updatedAt } = application;
      const secrets = await services.applications.unexpiredSecrets(application.id);
      const [{ writeYaml }, { applicationEntry }] = await Promise.all([
        import('../config-file/yaml.ts'),
        import('../config-file/sections/applications.ts'),
      ]);
      return {
        json: {
          ...application,
          secrets: secrets.map(({ id, createdAt, expiresAt }) => ({ id, createdAt, expiresAt })),
        },
        text: [
          `# ${PROTOCOLS[protocol]}, from ${source}, changed ${formatDate(updatedAt)}`,
          ...secrets.map(
            ({ createdAt, expiresAt }) =>
              `# a secret of ${formatDate(createdAt)}${expiresAt ? `, until ${formatDate(expiresAt)}` : ''}`,
          ),
          ...writeYaml(applicationEntry(application)).trimEnd().split('\n'),
        ],
      };
    },
  },

  'app people': {
    args: ['IDENTIFIER|NAME'],
    summary: 'list the users who can open an application, and why',
    async act(services, input) {
      const application = await appOf(services, input);
      const found = [];
      let after: string | undefined;
      do {
        const page = await services.applicationPeople.list(application, {
          limit: PEOPLE_PAGE,
          sort: 'username',
          after,
        });
        found.push(...page.people);
        after = page.next;
      } while (after);
      const { accessJson } = await import('../admin/applications/people.ts');
      const rows = found.flatMap(({ account, ways }) =>
        ways.map((way) => [account.username, fullName(account) ?? '-', wayText(way), formatDate(way.until)]),
      );
      return {
        json: found.map(accessJson),
        table: [['USERNAME', 'NAME', 'BY', 'UNTIL'], rows],
        notes: application.enabled ? [] : ['The application is disabled, so people can’t open it.'],
      };
    },
  },

  'app provision': {
    args: ['IDENTIFIER|NAME'],
    summary: 'show how people are written to an application by SCIM, or what that would do, or decide',
    details:
      'Without an option: the state, and what the application rejected. The server does the work within seconds.',
    options: {
      preview: { type: 'boolean', help: 'what a comparison of everybody would do; nothing is sent' },
      test: {
        type: 'boolean',
        help: 'call the application: its configuration, and a search for a name that nobody has',
      },
      compare: { type: 'boolean', help: 'compare everybody now, and try again what was rejected' },
      pause: { type: 'boolean', help: 'send nothing until it is resumed' },
      resume: { type: 'boolean', help: 'go on' },
      approve: { type: 'boolean', help: 'let held leavers lose their accounts there' },
    },
    async act(services, input) {
      const { provisioning } = services;
      const application = await appOf(services, input);
      const { checkJson, previewJson, rejectedJson, stateJson } = await import('../admin/applications/provisioning.ts');
      const decision = DECISIONS.find((one) => input.flag(one));
      if (decision) await provisioning.decide(application, decision, {});
      if (input.flag('preview')) return changesIn(previewJson(await provisioning.preview(application)));
      if (input.flag('test')) {
        const checks = (await provisioning.test(application)).map(checkJson);
        return {
          json: checks,
          table: [['CALL', 'RESULT'], checks.map(({ check, error }) => [check, error ?? 'ok'])],
          code: checks.every(({ ok }) => ok) ? 0 : 1,
        };
      }
      const state = stateJson(await provisioning.state(application));
      const rejected = (await provisioning.rejected(application)).map(rejectedJson);
      const rows = rejected.map(({ id, name, error, next_try_at }) => [name ?? id, error, next_try_at]);
      return {
        json: { ...state, rejected },
        text: Object.entries(state)
          .filter(([, value]) => value !== null && value !== false)
          .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`),
        ...(rows.length > 0 && { table: [['REJECTED', 'ANSWER', 'NEXT TRY'], rows] as const }),
      };
    },
  },

  'app add': {
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
      group: many('GROUP', 'give access only to people in this group'),
      'create-groups': { type: 'boolean', help: 'create the groups of --group that are missing' },
      'saml-metadata': {
        type: 'string',
        value: 'FILE|URL',
        help: 'metadata of the SAML service provider, a file or an https URL',
      },
      'idp-initiated': { type: 'boolean', help: 'SAML: show it in the app list' },
    },
    mayBegin: true,
    async act(services, given, io) {
      const input = given.isEmpty && io.ask ? await askForApplication(io.ask, io, services) : given;
      if (input.flag('create-groups')) await createGroups(input.texts('group'), services, io);
      return input.text('saml-metadata') === undefined ? addClient(input, services) : addProvider(input, services);
    },
  },

  'app secret': {
    args: ['IDENTIFIER|NAME'],
    summary: 'create a client secret; prints it once',
    details:
      'Without --keep, the old secrets expire now. With --keep, they stay valid for that time, so that you can update the application first.',
    options: {
      keep: { type: 'string', value: 'SECONDS', help: 'seconds that the old secrets stay valid (default: 0)' },
    },
    async act(services, input) {
      const application = await appOf(services, input);
      const keep = input.text('keep');
      if (keep !== undefined && !/^\d{1,8}$/.test(keep)) throw new UsageError('--keep must be a number of seconds');
      const { needsSecretValue, usesSecret } = await import('../applications/fields/oidc-client.ts');
      if (application.protocol !== 'oidc' || !usesSecret(application.metadata))
        return fail("This application doesn't use a secret.");
      // Here the secret is an HMAC key: only the newest one signs, so the old one cannot stay valid.
      const replace = keep === undefined || needsSecretValue(application.metadata) ? 'now' : Number(keep);
      const { value } = await services.applications.addSecret(application.id, { replace });
      return {
        json: { client_id: application.clientId, client_secret: value },
        text: secretLines('Client secret', value),
      };
    },
  },

  'app registration-token': {
    summary: 'create an initial access token for dynamic registration (/register); prints it once',
    options: {
      seconds: { type: 'string', value: 'SECONDS', help: 'seconds that the token is valid (default: 86400)' },
      'without-pkce': {
        type: 'boolean',
        help: 'confidential clients registered with it need no PKCE; for software that cannot send it',
      },
    },
    async act(services, input) {
      const seconds = input.text('seconds');
      if (seconds !== undefined && !/^[1-9]\d{0,7}$/.test(seconds))
        throw new UsageError('--seconds must be a number of seconds');
      const withoutPkce = input.flag('without-pkce');
      const { token, expiresAt } = await createRegistrationTokens(services).issue({
        ...(seconds !== undefined && { seconds: Number(seconds) }),
        withoutPkce,
      });
      return {
        json: { initial_access_token: token, expires_at: expiresAt },
        text: secretLines('Initial access token', token, `It expires at ${expiresAt.toISOString()}.`),
        notes: withoutPkce
          ? ['Warning: a stolen code of a client without PKCE can be used with its secret alone.']
          : [],
      };
    },
  },
};

/** The application that an argument names by its identifier, or by a name that no other one has. */
async function appOf({ applications }: Services, { words: [identifier = ''] }: Input): Promise<Application> {
  const found = await applications.find(identifier);
  if (found) return found;
  // Equal names come first.
  const named = (await applications.list({ search: identifier, limit: 20 })).applications.filter(
    ({ name }) => name === identifier,
  );
  if (named.length > 1) {
    const each = named.map(({ clientId }) => `  ${clientId}`);
    fail([`Several applications have the name "${identifier}". Use the identifier of one of them:`, ...each]);
  }
  return named[0] ?? noSuch('application', 'app', identifier);
}

export const accessText = (rule: Access): string =>
  rule === 'everyone' ? rule : [...rule.roles, ...(rule.groups ?? []).map((name) => `group ${name}`)].join(', ') || '-';

export function wayText({ by, name, givenBy, via, connection }: AccessWay): string {
  if (by === 'everyone') return by;
  const giver = connection === undefined ? givenBy && `by the group ${givenBy}` : `by the connection ${connection}`;
  return [by, name, giver, via && `via ${via}`].filter(Boolean).join(' ');
}

/** What a comparison of everybody would do. */
function changesIn(preview: Preview): Result {
  const rows = CHANGES.flatMap((kind) =>
    preview[kind].people.map(({ user, username, name, attributes }) => [
      ...[kind, username ?? user, name ?? '-', kind === 'update' ? attributes.join(', ') : ''],
    ]),
  );
  return {
    json: preview,
    ...(rows.length > 0 && { table: [['CHANGE', 'USERNAME', 'NAME', 'ATTRIBUTES'], rows] as const }),
    text: `${CHANGES.map((kind) => `${kind}: ${preview[kind].count}`).join(', ')}, unchanged: ${preview.unchanged}`,
  };
}

async function proxyOf(application: Application, { config }: Services): Promise<Result> {
  if (application.protocol !== 'proxy') return fail('This application has no reverse proxy of its own.');
  const { proxyConfiguration } = await import('../admin/applications/presets/proxies.ts');
  const { title, text } = proxyConfiguration(application, config.issuer);
  return { json: { file: title, configuration: text }, text: text.trimEnd().split('\n') };
}

async function addClient(input: Input, { applications, config }: Services): Promise<Result> {
  const isPublic = input.flag('public');
  const grants = input
    .texts('grant')
    .map((grant) => (grant === 'device' ? 'urn:ietf:params:oauth:grant-type:device_code' : grant));
  const resources = input.texts('resource');
  // Values are not validated here; the registration does that.
  const client = defined({
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
  });
  const { application, clientSecret } = await applications.createOidc(client as Partial<OidcClientInput>);
  const { clientId, name } = application;
  return {
    json: { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) },
    text: [
      `Added ${name}.`,
      `Issuer:        ${config.issuer}`,
      `Client ID:     ${clientId}`,
      ...(clientSecret ? secretLines('Client secret', clientSecret) : []),
    ],
  };
}

async function addProvider(input: Input, services: Services): Promise<Result> {
  const { applications, now, fetchMetadata } = services;
  const source = input.text('saml-metadata') ?? '';
  const isUrl = /^https?:\/\//.test(source);
  const xml = await (isUrl ? fetchMetadata(source) : readDocument(source)).catch(unreadable);
  const { metadataFaults, serviceProvider, settingsOf } = await import('../applications/fields/service-provider.ts');
  const metadata = await parsed(xml, now());
  const { metadataWarnings, nameFrom } = await import('../protocols/saml/metadata/parse.ts');
  const name = input.text('name') ?? nameFrom(metadata);
  const entry = serviceProvider.parse({
    name,
    ...(isUrl ? { metadata_url: source } : { metadata: xml }),
    idp_initiated: input.flag('idp-initiated'),
    access: accessOf(input) ?? 'everyone',
  });
  const [found] = metadataFaults(entry, metadata);
  if (found) throw new UsageError(`--saml-metadata: ${faultLine(found)}`);
  const { enabled, consent, access } = entry;
  const declared = { entityId: metadata.entityId, name, enabled, consent, access, settings: settingsOf(entry, xml) };
  const application = await applications.createSaml(declared);
  return {
    json: { entity_id: application.clientId, name: application.name },
    text: [
      `Added ${application.name}.`,
      ...metadataWarnings(metadata).map((warning) => `Warning: ${warning}`),
      `Entity ID: ${application.clientId}`,
      `Metadata of Gatehouse: ${services.config.issuer}/saml/metadata`,
    ],
  };
}

async function createGroups(names: readonly string[], { groups }: Services, io: Io): Promise<void> {
  for (const name of names) {
    if (await groups.find(name)) continue;
    await groups.create({ name });
    io.err(plain(`Created the group ${name}.`));
  }
}

function accessOf(input: Input): Access | undefined {
  const [roles, groups] = [input.texts('role'), input.texts('group')];
  if (roles.length + groups.length === 0) return undefined;
  return { roles, ...(groups.length > 0 && { groups }) };
}

async function readDocument(file: string): Promise<string> {
  const octets = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} can't be read (${error.code})`);
  });
  const { decodeXml } = await import('../protocols/saml/xml/encoding.ts');
  return decodeXml(octets);
}

function unreadable(error: unknown): never {
  throw new UsageError(`--saml-metadata: ${messageOf(error)}`);
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

// Interactive `gatehouse app add`: asks for the kind of application, then only for what that kind needs. The answers become
// the same options that a script would pass. An invalid answer is explained, and the prompt repeated.

type Ask = NonNullable<Io['ask']>;
/** The error of an answer, or undefined. */
type Validate = (answer: string) => string | undefined | Promise<string | undefined>;

const KINDS = [
  'web application with a server',
  'single-page application in the browser',
  'mobile or desktop app',
  'service without users',
  'SAML application',
  'web application with high security (FAPI 2) and its own signing key',
] as const;

/** Prompts for each value; returns the answers as options. */
async function askForApplication(ask: Ask, io: Io, services: Services): Promise<Input> {
  const { config, roles } = services;
  const askFor = (question: string, validate?: Validate) => askUntilValid(ask, io, question, validate);
  const list = async (question: string, validate: Validate, isNeeded = false) =>
    split(await askFor(question, eachOf(validate, isNeeded)));
  const yes = async (question: string) => /^y/i.test(await askFor(`${question} [y/N] `));

  io.out('Application type');
  for (const [index, kind] of KINDS.entries()) io.out(`  ${index + 1}  ${kind}`);
  const kind = Number(
    await askFor('1 to 6: ', (answer) => (/^[1-6]$/.test(answer) ? undefined : 'Enter a number from 1 to 6')),
  );
  const values: Record<string, string | boolean | string[]> = { name: await askFor('Name that users see: ', required) };
  const native = kind === 3;

  if (kind <= 3 || kind === 6) {
    const uri: Validate = (answer) => sentenceIf(redirectUriFault(answer, native ? 'native' : 'web'));
    values['redirect-uri'] = await list('Redirect URIs, separated by commas: ', uri, true);
    values['post-logout-redirect-uri'] = await list('Post-logout redirect URI (optional): ', uri);
    const stays = await yes('Allow access while the user is away (refresh tokens)?');
    values.grant = ['authorization_code', ...(stays ? ['refresh_token'] : [])];
    values.public = kind === 2 || kind === 3;
    values.native = native;
    values['first-party'] = await yes('Skip the consent screen, because the application is your own?');
  }
  if (kind === 6) {
    values['jwks-uri'] = await askFor('URL of its public keys (jwks_uri): ', httpsUrl);
    const isSigned = await yes('Sign requests and responses too (FAPI 2 Message Signing)?');
    values.profile = isSigned ? 'fapi2-signing' : 'fapi2';
  }
  if (kind === 4) {
    values.grant = ['client_credentials'];
    values.resource = await list(
      `API that it calls (optional; the admin API is ${config.issuer}/api/admin): `,
      (answer) => sentenceIf(resourceFault(answer)),
    );
    values.scope = await askFor('Scopes of that API, separated by spaces (optional): ');
  }
  if (kind === 5) {
    values['saml-metadata'] = await askFor('SAML metadata, a file or an https URL: ', unreadableFault);
    values['idp-initiated'] = await yes('Show it in the app list?');
  }
  if (kind !== 4) {
    const known: Validate = async (name) => ((await roles.find(name)) ? undefined : `the role ${name} doesn’t exist`);
    values.role = await list('Roles with access, separated by commas (empty: everyone): ', known);
  }
  const given = Object.entries(values).filter(([, value]) => value !== '');
  return inputOf(Object.fromEntries(given));
}

async function askUntilValid(
  ask: Ask,
  io: Io,
  question: string,
  validate: Validate = () => undefined,
): Promise<string> {
  for (;;) {
    const answer = (await ask(question)).trim();
    const fault = await validate(answer);
    if (fault === undefined) return answer;
    io.err(`  ${fault}`);
  }
}

function required(answer: string): string | undefined {
  return answer === '' ? 'Enter a value' : undefined;
}

function httpsUrl(answer: string): string | undefined {
  return answer.startsWith('https://') && URL.canParse(answer) ? undefined : sentenceIf(fault([], 'https-url'));
}

const sentenceIf = (found: Fault | undefined) => found && sentenceOf(found, 'It');

async function unreadableFault(source: string): Promise<string | undefined> {
  if (source === '') return required('');
  if (/^https?:\/\//.test(source)) return undefined;
  return access(source).then(
    () => undefined,
    () => `${source} cannot be read`,
  );
}

function eachOf(validate: Validate, isNeeded: boolean): Validate {
  return async (answer) => {
    const parts = split(answer);
    if (isNeeded && parts.length === 0) return required('');
    for (const part of parts) {
      const fault = await validate(part);
      if (fault !== undefined) return `${part}: ${fault}`;
    }
    return undefined;
  };
}

function split(answer: string): string[] {
  return answer
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
