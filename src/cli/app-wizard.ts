// Interactive `gatehouse app add`: asks for the kind of application, then only for what that kind needs. The answers become
// the same options that a script would pass. An invalid answer is explained, and the prompt repeated.

import { access } from 'node:fs/promises';
import { redirectUriFault, resourceFault } from '../applications/uris.ts';
import { faultMessage } from '../base/platform/fault-messages.ts';
import type { Services } from '../server/services.ts';
import type { Input } from './command.ts';
import type { Io } from './io.ts';

type Ask = NonNullable<Io['ask']>;
type Values = Record<string, string | boolean | string[]>;
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
export async function askForApplication(ask: Ask, io: Io, services: Services): Promise<Input> {
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
  const values: Values = { name: await askFor('Name that users see: ', required) };
  const native = kind === 3;

  if (kind <= 3 || kind === 6) {
    const uri: Validate = (answer) => redirectUriFault(answer, native ? 'native' : 'web');
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
      resourceFault,
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
  return inputOf(values);
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
  return answer.startsWith('https://') && URL.canParse(answer) ? undefined : faultMessage('https-url');
}

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

function inputOf(values: Values): Input {
  return {
    isEmpty: false,
    words: [],
    flag: (name) => values[name] === true,
    text(name) {
      const value = values[name];
      return typeof value === 'string' && value !== '' ? value : undefined;
    },
    texts(name) {
      const value = values[name];
      return Array.isArray(value) ? value : [];
    },
  };
}
