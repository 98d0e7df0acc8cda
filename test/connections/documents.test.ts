// Discovery, JWKS and metadata of an upstream: read, stored, and never of another identity. DNS proof of domains.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inLanguage } from '../../src/base/texts/text.ts';
import { certificateEnds } from '../../src/core/keys/key-rows.ts';
import type { Connection } from '../../src/federation/connections/connection.ts';
import { type ConnectionDocuments, createConnectionDocuments } from '../../src/federation/connections/documents.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { connectionWarnings } from '../../src/federation/connections/warnings.ts';
import { createMetadataFetch } from '../../src/protocols/saml/metadata/fetch.ts';
import { parseIdentityProviderMetadata } from '../../src/protocols/saml/metadata/parse-identity-provider.ts';
import { identityProviderMetadata } from '../../src/protocols/saml/metadata/presentation.ts';
import { selfSigned } from '../saml/certificate.ts';
import { anRsaKey } from '../support/applications/rsa-keys.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Listening, listen } from '../support/listen.ts';
import { servicesOf } from '../support/services-of.ts';

const clock = testClock();
const { privateKey, publicKey } = anRsaKey();
const certificate = selfSigned(privateKey, publicKey);
const key = (kid: string) => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' });

let idp: TestIdp;
let upstream: Listening;
let documents: ConnectionDocuments;
let enabled: Connection[] = [];
let records: string[] | Error = [];
/** What the upstream answers, and what it was called for. */
let answers: Record<string, unknown> = {};
let calls: string[] = [];

beforeAll(async () => {
  const resolveTxt = async () => {
    if (records instanceof Error) throw records;
    return records;
  };
  idp = await startIdp({ now: clock.now, resolveTxt });
  upstream = await listen((request, response) => {
    const path = request.url ?? '';
    calls.push(path);
    const answer = answers[path];
    if (answer === undefined) response.writeHead(503).end();
    else response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  // Beside the server's own, whose job would read at its own time.
  const { services } = idp;
  documents = createConnectionDocuments({
    ...services,
    connections: { enabled: async () => enabled } as never,
    parseMetadata: (xml) => parseIdentityProviderMetadata(xml, clock.now()),
    fetchMetadata: createMetadataFetch({ outgoing: services.outgoing }),
  });
});
afterAll(() => Promise.all([idp.stop(), upstream.close()]));
beforeEach(() => {
  calls = [];
  const { origin } = upstream;
  answers = {
    '/.well-known/openid-configuration': {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/jwks`,
    },
    '/jwks': { keys: [key('1'), { kty: 'oct', k: 'c2VjcmV0', kid: 'shared' }] },
  };
});

async function make(input: Record<string, unknown>): Promise<Connection> {
  const base = { kind: 'oidc', name: 'Upstream', client_id: 'x', issuer: upstream.origin, enabled: false };
  const checked = checkConnection(
    input.kind === 'saml' ? { name: 'Upstream', enabled: false, ...input } : { ...base, ...input },
  );
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  return idp.services.connections.create(checked.value);
}
const kids = async (connection: Connection) => {
  const { keys } = JSON.parse((await documents.get(connection, 'jwks')).content) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};

describe('the documents of an OpenID Connect upstream', () => {
  it('are read once, without shared keys, and again for an unknown key at most once a minute', async () => {
    const connection = await make({ id: 'doc-a' });
    expect(await kids(connection)).toEqual(['1']);
    await documents.get(connection, 'discovery');
    expect(calls).toEqual(['/.well-known/openid-configuration', '/jwks']);
    answers['/jwks'] = { keys: [key('2')] };
    await documents.getWithNewKeys(connection);
    expect(await kids(connection)).toEqual(['1']);
    clock.advance({ minutes: 2 });
    await Promise.all([documents.getWithNewKeys(connection), documents.getWithNewKeys(connection)]);
    expect(await kids(connection)).toEqual(['2']);
    expect(calls.filter((path) => path === '/jwks')).toHaveLength(2);
    const [change] = await idp.services.audit.list({ types: ['connection.document-changed'] });
    expect(change?.data).toMatchObject({ connection: 'doc-a', document: 'jwks' });
  });

  it('stay usable while the upstream is down, which is audited once and tried again every hour', async () => {
    const connection = await make({ id: 'doc-b' });
    expect(await kids(connection)).toEqual(['1']);
    enabled = [connection];
    answers = {};
    const failures = () => idp.services.audit.list({ types: ['connection.document-failed'] });
    const before = (await failures()).length;
    for (const hours of [25, 2, 2]) {
      clock.advance({ hours });
      await documents.refreshDue(AbortSignal.timeout(5000));
    }
    expect(await kids(connection)).toEqual(['1']);
    expect((await failures()).length - before).toBe(2); // discovery and JWKS, once each
    const states = await documents.states('doc-b');
    expect(states).toMatchObject([
      { kind: 'discovery', hasContent: true },
      { kind: 'jwks', hasContent: true, failingSince: expect.any(Date) },
    ]);
    // Each reader gets the stored error in the language of the page.
    const [lastError] = states.map((state) => state.lastError);
    expect(String(lastError)).toMatch(/openid-configuration returned 503\.$/);
    expect(inLanguage('de', () => String(lastError))).toMatch(/openid-configuration antwortet mit 503\.$/);
    calls = [];
    await documents.refreshDue(AbortSignal.timeout(5000)); // not due
    expect(calls).toEqual([]);
    enabled = [];
  });

  it('are tried again soon while none was ever read, and less and less often', async () => {
    const connection = await make({ id: 'doc-soon' });
    enabled = [connection];
    const good = answers;
    answers = {};
    calls = [];
    const path = '/.well-known/openid-configuration';
    const secondsBetween = (from: Date | null, to: Date) => (to.getTime() - (from?.getTime() ?? 0)) / 1000;
    const tries: { passed: number; wait: number }[] = [];
    let due = clock.now();
    while (tries.length < 7) {
      clock.advance({ seconds: Math.max(0, secondsBetween(clock.now(), due)) });
      calls = [];
      const next = await documents.refreshDue(AbortSignal.timeout(5000));
      // Another instance that looks at the same moment reads nothing.
      await documents.refreshDue(AbortSignal.timeout(5000));
      expect(calls).toEqual([path]);
      const states = await documents.states('doc-soon');
      const times = states.map(({ nextReadAt }) => nextReadAt).sort((one, other) => secondsBetween(other, one));
      expect(next).toEqual(times[0]);
      due = times.at(-1) as Date;
      const [discovery] = states;
      expect(discovery?.kind).toBe('discovery');
      if (discovery)
        tries.push({
          passed: secondsBetween(discovery.failingSince, discovery.triedAt),
          wait: secondsBetween(discovery.triedAt, discovery.nextReadAt),
        });
    }
    // The clock goes on while the test runs: each wait is measured from the try before it, to the millisecond.
    const [first, ...later] = tries;
    expect(first).toEqual({ passed: 0, wait: 5 });
    for (const [at, { passed, wait }] of later.entries()) {
      const before = tries[at];
      expect(passed).toBeGreaterThanOrEqual((before?.passed ?? 0) + (before?.wait ?? 0));
      expect(wait).toBeCloseTo(Math.min(3600, 3 * passed), 2);
    }
    expect(tries.slice(-2).map(({ wait }) => wait)).toEqual([3600, 3600]);
    answers = good;
    clock.advance({ hours: 1 });
    expect(await documents.refreshDue(AbortSignal.timeout(5000))).toBeUndefined();
    expect(await kids(connection)).toEqual(['1']);
    enabled = [];
  });

  it('are rejected when they are of another issuer, name forbidden addresses or have no key', async () => {
    const reject = async (id: string, change: Record<string, unknown>, reason: RegExp, input = {}) => {
      const original = answers;
      answers = { ...answers, ...change };
      const connection = await make({ id, ...input });
      await expect(documents.get(connection, 'jwks')).rejects.toMatchObject({
        code: 'upstream_unavailable',
        reason: expect.stringMatching(reason),
      });
      answers = original;
    };
    const path = '/.well-known/openid-configuration';
    const good = answers[path] as Record<string, unknown>;
    await reject('doc-c', { [path]: { ...good, issuer: `${upstream.origin}/` } }, /names the issuer/);
    await reject('doc-d', { [path]: { ...good, jwks_uri: 'http://169.254.169.254/latest' } }, /jwks_uri must be https/);
    await reject('doc-e', { [path]: { ...good, jwks_uri: 'https://10.0.0.1/jwks' } }, /private or special network/);
    await reject('doc-f', { '/jwks': { keys: [{ kty: 'oct', k: 'x' }] } }, /no key that can verify/);
    await reject('doc-g', { [path]: '<html>' }, /isn’t JSON/);
    await reject('doc-h', {}, /private or special network/, { issuer: 'https://192.168.0.1' });
  });

  it('are read again when another program changed them', async () => {
    const connection = await make({ id: 'doc-i' });
    expect(await kids(connection)).toEqual(['1']);
    const content = JSON.stringify({ keys: [key('forged')] });
    await idp.services.db.asStored.connectionDocument.updateMany({
      where: { connectionId: 'doc-i', kind: 'jwks' },
      data: { content },
    });
    expect(await kids(connection)).toEqual(['1']);
    const alarms = async () => JSON.stringify(await idp.services.audit.list({ types: ['integrity.alarm'] }));
    await expect.poll(alarms).toContain('connection_documents');
  });
});

describe('the metadata of a SAML upstream', () => {
  const metadata = (entityId: string) =>
    identityProviderMetadata({
      entityId,
      ssoUrl: 'https://a.example/sso',
      sloUrl: 'https://a.example/slo',
      url: 'https://a.example',
      signingCertificates: [certificate],
      wantAuthnRequestsSigned: false,
      displayName: 'A',
    });

  it('may change its keys and never its entity ID', async () => {
    answers['/metadata'] = metadata('https://a.example');
    const connection = await make({ id: 'doc-s', kind: 'saml', metadata_url: `${upstream.origin}/metadata` });
    expect((await documents.get(connection, 'metadata')).content).toContain('https://a.example/sso');
    answers['/metadata'] = metadata('https://evil.example');
    expect((await documents.readNow(connection)).map((one) => ({ ...one, error: String(one.error) }))).toEqual([
      { kind: 'metadata', error: expect.stringMatching(/describes https:\/\/evil.example, but the entity ID/) },
    ]);
    expect((await documents.get(connection, 'metadata')).content).not.toContain('evil');
  });
});

describe('a domain', () => {
  it('routes from its DNS record on, and no longer once the record is gone', async () => {
    const { connections, domainChecks } = idp.services;
    await make({ id: 'dns', domains: ['dns.example'], enabled: true });
    const [{ record } = { record: { value: '' } }] = await connections.domains('dns');
    expect(await domainChecks.check('dns', 'dns.example')).toBe('missing');
    records = ['v=spf1 -all', record.value];
    expect(await domainChecks.check('dns', 'dns.example')).toBe('proven');
    expect((await connections.forDomain('dns.example'))?.id).toBe('dns');
    records = new Error('SERVFAIL');
    expect(await domainChecks.check('dns', 'dns.example')).toBe('unreachable');
    expect((await connections.forDomain('dns.example'))?.id).toBe('dns');
    records = [];
    clock.advance({ days: 2 });
    await domainChecks.checkDue(AbortSignal.timeout(5000));
    expect(await connections.forDomain('dns.example')).toBeUndefined();
    const lost = await idp.services.audit.list({ types: ['connection.domain-lost'] });
    // The job of the server may check it at the same moment.
    expect(lost[0]).toMatchObject({ data: { connection: 'dns', domain: 'dns.example' } });
  });
});

describe('the warnings of connections', () => {
  const all = () => {
    const { connections, db } = idp.services;
    const parseMetadata = (xml: string) => parseIdentityProviderMetadata(xml, clock.now());
    const ownCertificates = () => certificateEnds(db, ['saml-sp', 'saml-sp-encryption']);
    return connectionWarnings({
      ...servicesOf({ now: clock.now }),
      connections,
      documents,
      parseMetadata,
      ownCertificates,
    });
  };
  const warnings = async () => {
    return (await all())
      .filter(({ connection }) => connection?.id === 'warn')
      .map(({ text, isUrgent }) => ({ text: String(text), isUrgent }));
  };

  it('name a secret 30 days and more urgently 7 days before it ends, until there is one that lasts', async () => {
    const expires_at = new Date(clock.now().getTime() + 40.5 * 86_400_000).toISOString();
    const connection = await make({ id: 'warn', enabled: true, client_secret: [{ value: 'x', expires_at }] });
    await documents.get(connection, 'jwks');
    expect(await warnings()).toEqual([]);
    clock.advance({ days: 11 });
    expect(await warnings()).toEqual([{ text: 'Upstream: the client secret expires in 29 days.', isUrgent: false }]);
    clock.advance({ days: 23 });
    expect(await warnings()).toEqual([{ text: 'Upstream: the client secret expires in 6 days.', isUrgent: true }]);
    await idp.services.connections.addSecret('warn', 'client-secret', { value: 'y' });
    expect(await warnings()).toEqual([]);
  });

  it('name a document that fails for two days, and a domain without its proof', async () => {
    answers = {};
    const connection = await idp.services.connections.get('warn');
    await documents.readNow(connection);
    expect(await warnings()).toEqual([]);
    clock.advance({ days: 2, hours: 1 });
    // The server's own job may have read the keys in the meantime, which fail too.
    expect(await warnings()).toContainEqual({
      text: expect.stringContaining('the discovery document can’t be read'),
      isUrgent: false,
    });
    records = [];
    await idp.services.connections.remove('warn');
    await make({ id: 'warn', enabled: true, domains: ['warn.example'] });
    await idp.services.domainChecks.check('warn', 'warn.example');
    expect(await warnings()).toEqual([{ text: expect.stringContaining('_gatehouse.warn.example'), isUrgent: false }]);
  });

  it('are mailed to the administrators, once 30 days and once 7 days before a secret or certificate expires', async () => {
    const { connections, db, notifyOfExpiry, roles } = idp.services;
    for (const { id } of await connections.enabled()) await connections.remove(id);
    const { account } = await aUser(idp.services, { email: 'root@example.com', emailVerified: true });
    await roles.assign(account.id, 'admin');
    // The job of the server may do the same at any moment, so the mails count and not the answer of this call.
    const mailsAfterNotice = async () => {
      await notifyOfExpiry();
      return db.mailMessage.count({ where: { recipient: 'root@example.com' } });
    };
    const days = (count: number) => new Date(clock.now().getTime() + (count + 0.5) * 86_400_000);
    await make({ id: 'mail', enabled: true, client_secret: [{ value: 'x', expires_at: days(40).toISOString() }] });
    expect(await mailsAfterNotice()).toBe(0);
    clock.advance({ days: 11 });
    expect([await mailsAfterNotice(), await mailsAfterNotice()]).toEqual([1, 1]);
    clock.advance({ days: 23 });
    expect([await mailsAfterNotice(), await mailsAfterNotice()]).toEqual([2, 2]);
    await connections.remove('mail');

    // A certificate of the upstream, and our own: only where there is a SAML connection.
    await db.signingKey.updateMany({ where: { use: 'saml-sp' }, data: { certificateUntil: days(20) } });
    expect(await all()).toEqual([]);
    const pem = selfSigned(privateKey, publicKey, { notAfter: days(25) });
    const sso = { sso_url: 'https://idp.example/sso', entity_id: 'https://idp.example', certificates: [pem] };
    await make({ id: 'mail-saml', kind: 'saml', name: 'School', enabled: true, ...sso });
    expect((await all()).map(({ text }) => String(text))).toEqual([
      'SAML connections: the signing certificate of this server as SAML service provider expires in 20 days.',
      'School: the last signing certificate expires in 25 days.',
    ]);
    expect(await mailsAfterNotice()).toBe(4);
    await connections.remove('mail-saml');
  });
});
