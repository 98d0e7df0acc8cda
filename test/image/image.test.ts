// What the image holds, and that it is enough: every part of the server that is loaded at its first use is used once, except
// the libraries of mail and of QR codes.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { deflateRawSync } from 'node:zlib';
import bcrypt from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpClient } from '../support/http.ts';
import { freePort } from '../support/idp.ts';
import { lastStage } from './dockerfile.ts';
import { buildImage, canIsolate, type Image, sizeMb } from './image.ts';

const MAX_MB = 80;
const stage = lastStage();
const root = mkdtempSync(path.join(tmpdir(), 'gatehouse-image-'));
const password = 'seven green kettles sing';

const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://wiki.example/metadata">
  <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService index="0"
  Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://wiki.example/acs"/></SPSSODescriptor></EntityDescriptor>`;

let image: Image;
let server: ChildProcess;
let origin: string;
let log = '';

/** Runs a command beside the server, as `docker exec` does; `input` is its standard input. */
async function run(command: string[]) {
  const child = image.start(command, { PORT: new URL(origin).port, ISSUER: origin, LOG_LEVEL: 'fatal' });
  const ended = once(child, 'exit');
  const output = async (stream: Readable | null) => (stream ? text(stream) : '');
  const [out, err] = await Promise.all([output(child.stdout), output(child.stderr)]);
  return { code: (await ended)[0] as number, out, err };
}

beforeAll(async () => {
  image = buildImage(stage, root);
  origin = `http://localhost:${await freePort()}`;
  const hash = bcrypt.hashSync(password, 4);
  const user = `users:\n  - username: alice\n    email: alice@example.com\n    password_hash: '${hash}'\n`;
  // Metadata is read with a library that is loaded at its first use.
  const provider = `service_providers:\n  - name: Wiki\n    metadata: ${JSON.stringify(metadata)}\n`;
  writeFileSync(path.join(root, stage.workdir, 'gatehouse.yaml'), user + provider);
  if (!canIsolate) mkdirSync(path.join(root, 'data'));
  server = image.start(stage.command, { PORT: new URL(origin).port, ISSUER: origin });
  await new Promise<void>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream?.setEncoding('utf8').on('data', (lines: string) => {
        log += lines;
        if (log.includes('Gatehouse is ready')) resolve();
      });
    }
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${log}`)));
  });
});
afterAll(() => {
  if (server?.exitCode === null) server.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

describe('the image', () => {
  it(`holds at most ${MAX_MB} MB beside Node`, () => {
    expect(sizeMb(stage, root)).toBeLessThan(MAX_MB);
  });

  it('is healthy by the command of its health check', async () => {
    expect(await run(stage.healthCheck)).toMatchObject({ code: 0, err: '' });
  });

  it('signs in a user with an imported hash, which a worker thread verifies', async () => {
    const browser = httpClient(origin);
    const form = await browser.follow(await browser.get('/account'));
    const inside = await browser.follow(await browser.submit(form, { username: 'alice', password }));
    expect(inside.text).toContain('alice@example.com');
  });

  it('serves the style sheets and scripts of its pages', async () => {
    const browser = httpClient(origin);
    const { text: html } = await browser.follow(await browser.get('/account'));
    const assets = [...html.matchAll(/\/assets\/[\w.-]+/g)].map(([url]) => url);
    expect(assets.length).toBeGreaterThan(0);
    for (const url of assets) expect(await browser.get(url)).toMatchObject({ status: 200 });
  });

  it('answers SAML: its metadata, and an error to what is no message', async () => {
    const browser = httpClient(origin);
    expect((await browser.get('/saml/metadata')).text).toContain('X509Certificate');
    const message = deflateRawSync('<AuthnRequest/>').toString('base64');
    const rejected = await browser.get(`/saml/sso?SAMLRequest=${encodeURIComponent(message)}`);
    expect(rejected.status).toBe(400);
  });

  it('applies the metadata of a service provider, and writes a readable log', async () => {
    expect(log).toContain('"clientId":"https://wiki.example/metadata"');
    const env = {
      LOG_FORMAT: 'pretty',
      PORT: String(await freePort()),
      ISSUER: origin,
      DATABASE_URL: 'file:/nowhere/x.db',
    };
    const child = image.start(stage.command, env);
    const [output] = await Promise.all([text(child.stdout as Readable), once(child, 'exit')]);
    expect(output).toMatch(/^\[[\d:.]+\] FATAL/);
  });

  it('runs commands and the worker threads that they need', async () => {
    const created = await run(['node', 'bin/gatehouse.js', 'user', 'add', 'bob', '--email', 'bob@example.com']);
    expect(created).toMatchObject({ code: 0, err: '' });
    const script = "(await import('/app/dist/config-file/parse-task.js')).perform({ text: 'users: 1', maxSize: 1e6 })";
    const read = await run(['node', '--input-type=module', '-e', `console.log((await ${script}).faults.length)`]);
    expect(read).toMatchObject({ out: '1\n', err: '' });
  });

  it.runIf(canIsolate)('runs as a user without privileges on a file system that it cannot write to', async () => {
    const script = `require('fs').writeFileSync('/data/probe', ''); try { require('fs').writeFileSync('/app/probe', '') }
      catch (error) { console.log(process.getuid(), error.code) }`;
    expect(await run(['node', '-e', script])).toMatchObject({ out: '1000 EROFS\n', err: '' });
  });

  it('ends with 0 after SIGTERM', async () => {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
    expect(log).not.toMatch(/"level":"(error|fatal)"/);
  });
});
