// A start behind PgBouncer, which rejects parameters of a connection that it does not pass on. The proxy here does what PgBouncer does
// with the first message of a connection (PostgreSQL protocol 3.0: StartupMessage, ErrorResponse).
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { commandLine } from '../cli/support.ts';
import { databaseKind } from '../support/database/database.ts';
import { freePort } from '../support/idp.ts';

const PASSED_ON = ['user', 'database', 'application_name', 'client_encoding', 'DateStyle', 'TimeZone'];

/** The first parameter of a StartupMessage that PgBouncer does not know. */
function unsupportedIn(message: Buffer): string | undefined {
  const texts = message.toString('utf8', 8).split('\0');
  return texts.find((name, at) => at % 2 === 0 && name !== '' && !PASSED_ON.includes(name));
}

function errorResponse(reason: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${reason}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

describe.runIf(databaseKind() === 'postgresql')('PgBouncer', () => {
  let cli: Awaited<ReturnType<typeof commandLine>>;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    cli = await commandLine();
    const target = new URL(cli.url);
    server = createServer((client) => {
      client.on('error', () => {});
      client.once('data', (message) => {
        const name = unsupportedIn(message);
        if (name) return client.end(errorResponse(`unsupported startup parameter: ${name}`));
        const upstream = connect(Number(target.port), target.hostname).on('error', () => client.destroy());
        client.on('close', () => upstream.destroy());
        upstream.write(message);
        client.pipe(upstream).pipe(client);
      });
    });
    const port = await freePort();
    await once(server.listen(port, '127.0.0.1'), 'listening');
    const through = new URL(cli.url);
    through.port = String(port);
    url = through.href;
  });
  afterAll(async () => {
    server.close();
    await cli.close();
  });

  const ADVICE = /PgBouncer is in front of it: add \?pgbouncer=true to DATABASE_URL$/;
  const list = (DATABASE_URL: string) => cli.gatehouse(['user', 'list'], { env: { DATABASE_URL } });

  it('is named with the option that it needs', async () => {
    await expect(openDatabase(url)).rejects.toThrow(ADVICE);
    const { code, err } = await list(url);
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toEqual([expect.stringMatching(ADVICE)]);
  });

  it('works with the option', async () => {
    expect(await list(`${url}?pgbouncer=true`)).toMatchObject({ code: 0, err: '' });
  });

  it('does not pass on another schema', async () => {
    await expect(openDatabase(`${url}?pgbouncer=true&schema=other`)).rejects.toThrow(
      /PgBouncer does not pass on \?schema: use a database without it$/,
    );
  });
});
