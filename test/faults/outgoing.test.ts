// Every call that leaves the server, to one that hangs, breaks or never ends: what the person or client is told, what the log says, and
// that it goes on by itself when the other side is well again. The time limits are short where they end the call, and all cases wait at
// once.

import { generateKeyPairSync } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import path from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { createOutgoingFetch } from '../../src/base/network/outgoing-fetch.ts';
import { createTxtResolver } from '../../src/base/network/txt-records.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { signCheckpoint } from '../../src/core/audit/chain/checkpoint.ts';
import { createOutsideCheckpoints } from '../../src/core/audit/chain/outside-checkpoints.ts';
import { createMailServer } from '../../src/core/mail/mail-server.ts';
import { createMailTransport } from '../../src/core/mail/transport.ts';
import { createSmsGateway } from '../../src/core/sms/gateway.ts';
import { createBreached } from '../../src/people/credentials/breached.ts';
import { aService } from '../admin/support.ts';
import { aConnection, anUpstream, signInOver } from '../federation/support.ts';
import { anApplication, redirectUri, signIn } from '../oidc/support.ts';
import { anRsaKey } from '../support/applications/rsa-keys.ts';
import { testFolder } from '../support/database/database.ts';
import { aClient, aUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { enter, expectSignedIn } from '../support/pages/enter.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';
import { startDirectory } from '../support/upstream/directory.ts';
import { type Fault, type FaultyServer, faults, faultyServer } from './faulty-server.ts';
import { tcpProxy } from './tcp-proxy.ts';

/** What the log says of a call over HTTP. */
const reasons: Record<Fault, RegExp> = {
  silent: /did not answer in/,
  reset: /could not be reached: .*(ECONNRESET|hang up)/,
  refused: /could not be reached: connect ECONNREFUSED|refused the connection/,
  drips: /did not answer in/,
  endless: /sent more than [\d,]+ bytes/,
};
/** These end by themselves: a limit that a busy machine exceeds would end them for another reason. */
const endsAtOnce = (fault: Fault) => fault === 'reset' || fault === 'refused' || fault === 'endless';
const secret = 'a-secret-of-the-upstream-with-32-bytes';
let servers: Record<Fault, FaultyServer>;
const { outgoing: outgoingLimits, ldap } = limits;
const production = structuredClone({ outgoingLimits, ldap });

beforeAll(async () => {
  Object.assign(ldap, { stepSeconds: 1.5 });
  const started = await Promise.all(faults.map(async (fault) => [fault, await faultyServer(fault)] as const));
  servers = Object.fromEntries(started) as typeof servers;
});
afterAll(async () => {
  Object.assign(outgoingLimits, production.outgoingLimits);
  Object.assign(ldap, production.ldap);
  await Promise.all(Object.values(servers).map((server) => server.close()));
});

describe('a request that needs another server', () => {
  let impatient: TestIdp;
  let patient: TestIdp;
  const idpFor = (fault: Fault) => (endsAtOnce(fault) ? patient : impatient);
  beforeAll(async () => {
    impatient = await startWithLimit({ timeoutMs: 1200 });
    patient = await startWithLimit({ timeoutMs: 20_000 });
  });
  afterAll(() => Promise.all([impatient.stop(), patient.stop()]));

  async function startWithLimit(limit: { timeoutMs: number }): Promise<TestIdp> {
    Object.assign(outgoingLimits, limit);
    const idp = await startIdp();
    await idp.services.settings.set('rate_limits', false);
    await idp.services.settings.reload();
    return idp;
  }

  /** The one line of level error of a request. */
  const errorOf = (idp: TestIdp, { headers }: Page): string => {
    const lines = idp.log.filter((line) => line.includes(`"requestId":"${headers['x-request-id']}"`));
    const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
    return errors.map(({ detail }) => detail?.message ?? detail).join(' AND ');
  };
  const expectUnavailable = (idp: TestIdp, page: Page, fault: Fault, what: string = fault) => {
    expect({ status: page.status, retryAfter: page.headers['retry-after'] }, what).toEqual({
      status: 503,
      retryAfter: '5',
    });
    expect(page.text, what).toContain('We can’t reach Example Corp right now');
    expect(errorOf(idp, page), what).toMatch(reasons[fault]);
  };

  it('answers 503 with Retry-After where an upstream is needed, and the log names it and the fault', async () => {
    const results = faults.map(async (fault) => {
      const { origin } = servers[fault];
      const idp = idpFor(fault);
      await aConnection(idp, { id: `at-${fault}`, issuer: origin, client_id: 'x', client_secret: secret });
      const discovery = await signInOver(idp, `at-${fault}`);
      expectUnavailable(idp, discovery.page, fault);
      await idp.services.connections.remove(`at-${fault}`, { source: 'local' });
    });
    const more = faults.flatMap((fault) =>
      ['token_endpoint', 'userinfo_endpoint'].map(async (endpoint) => {
        const idp = idpFor(fault);
        const corp = await anUpstream(idp);
        corp.upstream.quirks = { discovery: { [endpoint]: `${servers[fault].origin}/there` } };
        const { page } = await signInOver(idp, corp.connection);
        await corp.remove();
        expectUnavailable(idp, page, fault, `${fault} ${endpoint}`);
      }),
    );
    await Promise.all([...results, ...more]);
  });

  it('signs in over an upstream again as soon as it answers again', async () => {
    const corp = await anUpstream(patient);
    const proxy = await tcpProxy(Number(new URL(corp.upstream.issuer).port));
    corp.upstream.user = { sub: 'patient' };
    corp.upstream.quirks = { discovery: { token_endpoint: `http://127.0.0.1:${proxy.port}/token` } };
    await proxy.refuse();
    const { clientId, browser, page } = await signInOver(patient, corp.connection);
    expect(page.status).toBe(503);
    await proxy.serve();
    expectSignedIn((await signInOver(patient, corp.connection, { clientId, browser })).page);
    await corp.remove();
    await proxy.close();
  });

  it('tells an administrator why metadata could not be read, and a client why its keys could not', async () => {
    const services = { impatient: await aService(impatient), patient: await aService(patient) };
    await Promise.all(
      faults.map(async (fault) => {
        const { origin } = servers[fault];
        const admin = endsAtOnce(fault) ? services.patient : services.impatient;
        const [metadata, token] = await Promise.all([
          admin.send('POST', '/saml-metadata', { metadata_url: `${origin}/metadata` }),
          tokenWithKeysAt(idpFor(fault), `${origin}/jwks`),
        ]);
        expect(metadata.status, fault).toBe(400);
        expect(JSON.stringify(metadata.json().errors), fault).toMatch(reasons[fault]);
        expect({ status: token.status, error: token.json().error }, fault).toEqual({
          status: 401,
          error: 'invalid_client',
        });
      }),
    );
  });

  async function tokenWithKeysAt(idp: TestIdp, jwks_uri: string): Promise<Page> {
    const { clientId } = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      client_secret: undefined,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri,
    });
    const claims = { iss: clientId, sub: clientId, aud: idp.issuer, jti: clientId };
    const { privateKey } = anRsaKey();
    const client_assertion = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey);
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const form = { grant_type: 'client_credentials', client_id: clientId, client_assertion_type, client_assertion };
    return httpClient(idp.issuer).post('/token', { form });
  }

  it('ends a session at once while its applications do not answer, and tells them again later', async () => {
    const idp = impatient;
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const clients: [clientId: string, fault: Fault][] = [];
    // One after the other: of first pages that a browser loads at once, only the last one's cookie of the form stays.
    for (const fault of faults) {
      const app = await anApplication(idp, { backchannel_logout_uri: `${servers[fault].origin}/logout` });
      await signIn(browser, app, user);
      clients.push([app.clientId, fault]);
    }
    await idp.services.endSession.all(user.account.id, 'ended-by-admin');
    await expect
      .poll(async () => {
        const rows = await idp.services.db.asStored.logoutDelivery.findMany({ where: { accountId: user.account.id } });
        return rows.filter(({ lastError, doneAt, failedAt }) => lastError && !doneAt && !failedAt).length;
      })
      .toBe(faults.length);
    for (const [clientId, fault] of clients) {
      const row = await idp.services.db.asStored.logoutDelivery.findFirstOrThrow({ where: { clientId } });
      expect(row.lastError, fault).toEqual(expect.stringMatching(reasons[fault]));
    }
  });

  it('answers 503 with Retry-After while a directory is silent after the bind, and signs in when it answers', async () => {
    const idp = patient;
    const uid = 'dora';
    const dn = `uid=${uid},ou=people,dc=example,dc=com`;
    const attributes = { uid: [uid], cn: ['Dora'], entryUUID: ['00000000-0000-4000-8000-00000000d04a'] };
    const directory = await startDirectory([{ dn, password: 'directory pass', attributes }]);
    const fields = { kind: 'ldap', name: 'Example Directory', url: directory.url, base_dn: 'dc=example,dc=com' };
    await aConnection(idp, { id: 'directory', ...fields, create_users: true });
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const enterNow = () => enter(idp, { clientId, username: uid, password: 'directory pass' });
    directory.quirks.hangs = 'at the search';
    const page = await enterNow();
    expect([page.status, page.headers['retry-after']]).toEqual([503, '30']);
    expect(errorOf(idp, page)).toMatch(/the search failed/);
    directory.quirks.hangs = false;
    expectSignedIn(await enterNow());
    await idp.services.connections.remove('directory', { source: 'local' });
    await directory.stop();
  });
});

describe('a call in the background', () => {
  const log: string[] = [];
  const logger = createLogger({ level: 'info', format: 'json', destination: { write: (line) => void log.push(line) } });
  const rules = () => ({ allowedNetworks: [], allowLoopback: true });
  const outgoingTo = (fault: Fault) =>
    createOutgoingFetch({ rules, timeoutMs: endsAtOnce(fault) ? 20_000 : 300, maxBytes: 100_000 });
  /** The one line that the work has logged. */
  async function lineOf(work: () => Promise<unknown>): Promise<string> {
    log.length = 0;
    await work();
    expect(log.map((line) => JSON.parse(line).msg)).toHaveLength(1);
    return String(log[0]);
  }

  it.each(faults)('ends at a %s server, and the log has one line about it', async (fault) => {
    const { origin } = servers[fault];
    const strength = { isCommon: async () => false };
    const outgoing = outgoingTo(fault);
    const breached = createBreached({
      ...servicesOf({ logger }),
      strength: strength as never,
      rangeFetch: outgoing,
      rangeUrl: `${origin}/range/`,
    });
    const gateway = () => ({ url: `${origin}/sms` });
    const sms = createSmsGateway({
      ...servicesOf({ logger }),
      gateway,
      fetch: outgoing as never,
      host: 'id.example.com',
    });
    expect(await lineOf(async () => expect(await breached.check('a password')).toBe('clean'))).toMatch(reasons[fault]);
    expect(await lineOf(async () => expect(await sms.sendCode('+15550100', '123456')).toBe('failed'))).toMatch(
      reasons[fault],
    );
  });

  it.each(faults)('ends at a %s receiver of checkpoints, and the checkpoint is in the file', async (fault) => {
    const file = path.join(testFolder(), `checkpoints-${fault}.jsonl`);
    const key = { id: 'k1', privateKey: generateKeyPairSync('ed25519').privateKey };
    const checkpoints = createOutsideCheckpoints({
      file,
      url: servers[fault].origin,
      key,
      fetch: outgoingTo(fault),
      logger,
    });
    log.length = 0;
    await checkpoints.publish(signCheckpoint({ kind: 'head', seq: 1, hash: '0'.repeat(64), at: new Date() }, key));
    expect((await checkpoints.read()).valid).toHaveLength(1);
    const failed = log.filter((line) => line.includes('an audit checkpoint could not be stored'));
    expect(failed).toEqual([expect.stringMatching(reasons[fault])]);
  });

  it.each(
    (['silent', 'reset', 'refused', 'drips'] as const).flatMap((fault) => [
      [fault, 'environment'] as const,
      [fault, 'settings'] as const,
    ]),
  )('ends at a %s mail server of the %s', async (fault, source) => {
    const server = await faultyServer(fault, '220-');
    const config = {
      issuer: 'https://id.example.com',
      issuerUrl: new URL('https://id.example.com'),
      ...(source === 'environment' && { smtpUrl: `smtp://127.0.0.1:${server.port}` }),
      mailFrom: 'a@example.com',
      outboxDir: '/nowhere',
    } as never;
    const settings = fixedSettings(() => ({ mail_server: { host: '127.0.0.1', tls: 'none', port: server.port } }));
    const mailServer = createMailServer({ config, settings });
    const transport = createMailTransport(
      { ...servicesOf({ config, logger }), mailServer },
      { timeoutMs: 300, totalMs: 600 },
    );
    const mail = { id: '1', to: 'b@example.com', subject: 's', text: 't', html: '<p>t</p>', createdAt: new Date() };
    const result = await transport.send(mail);
    expect(result).toEqual({
      outcome: 'no-server',
      cause: 'connection',
      step: 'connection',
      reason: expect.stringMatching(mailReasons[fault]),
    });
    if (fault !== 'drips') await expect.poll(server.open).toBe(0); // there it is given some seconds to end
    await server.close();
  });
  const mailReasons = {
    silent: /greeting/i,
    reset: /ECONNRESET|closed/i,
    refused: /ECONNREFUSED/,
    drips: /greeting|took more than/i,
  };

  it('ends at silent name servers', async () => {
    const silent = createSocket('udp4').bind(0, '127.0.0.1');
    await once(silent, 'listening');
    const nameServers = [`127.0.0.1:${silent.address().port}`];
    const slow = createTxtResolver({ timeoutMs: 60_000, totalMs: 200, nameServers });
    await expect(slow('_gatehouse.example.com')).rejects.toThrow('no name server answered in 200 ms');
    silent.close();
  });
});
