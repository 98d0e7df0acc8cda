// `gatehouse app list`, `show` and `secret`: the registered applications of both protocols.

import type { Application } from '../applications/application.ts';
import type { Services } from '../server/services.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, type Io, plain } from './io.ts';

export const appList: Command = {
  name: 'app list',
  summary: 'list all applications, OIDC and SAML',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ applications }) => {
      const all = await applications.all();
      if (input.flag('json')) {
        io.json(all.map(({ metadata: _metadata, ...application }) => application));
        return 0;
      }
      const rows = all.map((application) => [
        application.clientId,
        application.name,
        application.protocol,
        application.access === 'everyone' ? 'everyone' : application.access.roles.join(', '),
        application.enabled ? 'yes' : 'no',
        application.source,
      ]);
      io.table(['IDENTIFIER', 'NAME', 'PROTOCOL', 'ACCESS', 'ENABLED', 'SOURCE'], rows);
      return 0;
    }),
};

export const appShow: Command = {
  name: 'app show',
  args: ['IDENTIFIER'],
  summary: 'show an application in the format of the configuration file',
  options: jsonOption,
  run: (input, io) =>
    withApp(input, io, async (application, { applications }) => {
      const secrets = await applications.unexpiredSecrets(application.id);
      const visibleSecrets = secrets.map(({ id, createdAt, expiresAt }) => ({ id, createdAt, expiresAt }));
      if (input.flag('json')) {
        io.json({ ...application, secrets: visibleSecrets });
        return 0;
      }
      io.out(
        `# ${application.protocol === 'oidc' ? 'OpenID Connect' : 'SAML'}, from ${application.source}, changed ${formatDate(application.updatedAt)}`,
      );
      for (const { createdAt, expiresAt } of secrets) {
        io.out(`# a secret of ${formatDate(createdAt)}${expiresAt ? `, until ${formatDate(expiresAt)}` : ''}`);
      }
      const [{ writeYaml }, { applicationEntry }] = await Promise.all([
        import('../config-file/yaml.ts'),
        import('../config-file/sections/applications.ts'),
      ]);
      io.out(writeYaml(applicationEntry(application)).trimEnd());
      return 0;
    }),
};

export const appSecret: Command = {
  name: 'app secret',
  args: ['CLIENT_ID'],
  summary: 'create a client secret; prints it once',
  details:
    'Without --keep, the old secrets expire now. With --keep, they stay valid for that time, so that you can update the application first.',
  options: {
    keep: { type: 'string', value: 'SECONDS', help: 'seconds that the old secrets stay valid (default: 0)' },
    ...jsonOption,
  },
  run: (input, io) =>
    withApp(input, io, async (application, { applications }) => {
      const keep = input.text('keep');
      if (keep !== undefined && !/^\d{1,8}$/.test(keep)) throw new UsageError('--keep must be a number of seconds');
      const { needsSecretValue, usesSecret } = await import('../applications/fields/oidc-client.ts');
      if (application.protocol !== 'oidc' || !usesSecret(application.metadata)) {
        io.err("This application doesn't use a secret.");
        return 1;
      }
      // Here the secret is an HMAC key: only the newest one signs, so the old one cannot stay valid.
      const replace = keep === undefined || needsSecretValue(application.metadata) ? 'now' : Number(keep);
      const { value } = await applications.addSecret(application.id, { replace });
      if (input.flag('json')) io.json({ client_id: application.clientId, client_secret: value });
      else printSecret(value, io);
      return 0;
    }),
};

/** Prints a client secret, which is displayed only once. */
export function printSecret(secret: string, io: Io): void {
  io.out(`Client secret: ${secret}`);
  io.out("Copy it now. You won't see it again.");
}

function withApp(
  input: Input,
  io: Io,
  work: (application: Application, services: Services) => Promise<number>,
): Promise<number> {
  const [identifier = ''] = input.words;
  return withServices(io, async (services) => {
    const application = await services.applications.find(identifier);
    if (application) return work(application, services);
    io.err(`There is no application "${plain(identifier)}". To see all applications, run: gatehouse app list`);
    return 1;
  });
}
