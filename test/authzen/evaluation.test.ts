// Access evaluation (OpenID AuthZEN Authorization API 1.0): decisions, batches, and which callers it accepts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessApi } from '../../src/people/rbac/built-in.ts';
import { type Application, anApplication, basic, postAs, signIn } from '../oidc/support.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let app: Application;
let ann: { type: string; id: string };
beforeAll(async () => {
  idp = await startIdp();
  // Most evaluations here are about users without a sign-in to it.
  app = await anApplication(idp, { access_evaluation: 'all_users' });
  await idp.services.roles.create({ name: 'editor', permissions: ['articles:read', 'articles:write', 'urn:a:b:make'] });
  ann = await aPersonWith('editor');
});
afterAll(() => idp?.stop());

async function aPersonWith(...roles: string[]) {
  const { account } = await aUser(idp.services);
  await idp.services.roles.setRoles(account.id, roles);
  return { type: 'user', id: account.id };
}

const resource = { type: 'articles', id: '1' };
const [read, write, remove] = ['read', 'write', 'delete'].map((name) => ({ name }));

const ask = (path: string, json: unknown, { as = app, headers = {} }: { as?: Application; headers?: object } = {}) =>
  httpClient(idp.issuer).post(`/access/v1/${path}`, {
    json,
    headers: { authorization: basic(as.clientId, as.clientSecret), ...headers },
  });
const decision = async (json: unknown, as?: Application) => {
  const page = await ask('evaluation', json, as && { as });
  expect([page.status, page.headers['content-type']], page.text).toEqual([200, 'application/json; charset=utf-8']);
  return page.json();
};

itOnSqlite('AuthZEN publishes its endpoints in the metadata', async () => {
  const { status, json } = await httpClient(idp.issuer).get('/.well-known/authzen-configuration');
  expect([status, json()]).toEqual([
    200,
    {
      policy_decision_point: idp.issuer,
      access_evaluation_endpoint: `${idp.issuer}/access/v1/evaluation`,
      access_evaluations_endpoint: `${idp.issuer}/access/v1/evaluations`,
    },
  ]);
});

itOnSqlite('AuthZEN accepts from an application with pairwise subjects only the sub of its own sector', async () => {
  const options = { subject_type: 'pairwise' as const, redirect_uris: ['https://pairwise.example/cb'] };
  const [paired, other] = [
    await anApplication(idp, options),
    await anApplication(idp, { ...options, redirect_uris: ['https://elsewhere.example/cb'] }),
  ];
  const user = await aUser(idp.services);
  await idp.services.roles.setRoles(user.account.id, ['editor']);
  const { tokens } = await signIn(httpClient(idp.issuer), paired, user);
  const sub = tokens.claims()?.sub ?? '';
  expect(sub).not.toContain(user.account.id);
  const request = (id: string) => ({ subject: { type: 'user', id }, action: read, resource });
  expect(await decision(request(sub), paired)).toEqual({ decision: true });
  expect(await decision({ ...request(sub), action: remove }, paired)).toEqual({ decision: false });
  for (const id of [
    user.account.id,
    `${sub.startsWith('A') ? 'B' : 'A'}${sub.slice(1)}`,
    'x',
    `${sub}A`,
    sub.slice(0, 20),
  ])
    expect(await decision(request(id), paired), id).toEqual({ decision: false });
  // The name of one sector says nothing to another, nor to an application that knows people by their own identifier.
  expect(await decision(request(sub), other)).toEqual({ decision: false });
  expect(await decision(request(sub))).toEqual({ decision: false });
  // The audit names the account.
  const [denied] = await idp.services.audit.list({ types: ['access.evaluated'], subjectId: user.account.id, limit: 1 });
  expect(denied).toMatchObject({ clientId: paired.clientId });
});

describe('an application without access_evaluation', () => {
  const request = (id: string, action = read) => ({ subject: { type: 'user', id }, action, resource });

  it('receives decisions about a user only from the first sign-in until the user withdraws consent', async () => {
    const ordinary = await anApplication(idp);
    const user = await aUser(idp.services);
    await idp.services.roles.setRoles(user.account.id, ['editor']);
    const { id } = user.account;
    expect(await decision(request(id), ordinary)).toEqual({ decision: false });
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    expect(tokens.access_token).toBeTruthy();
    expect(await decision(request(id), ordinary), 'after a sign-in to another application').toEqual({
      decision: false,
    });
    await signIn(httpClient(idp.issuer), ordinary, user);
    expect(await decision(request(id), ordinary)).toEqual({ decision: true });
    await signIn(httpClient(idp.issuer), ordinary, user);
    await idp.services.consents.withdraw(id, ordinary.applicationId);
    expect(await decision(request(id), ordinary)).toEqual({ decision: false });
  });
});

describe('permissions in Gatehouse itself', () => {
  const question = (id: string) => ({
    subject: { type: 'user', id },
    action: read,
    resource: { type: 'gatehouse.users', id: '1' },
  });

  it('are denied, unless the filter of the application names them', async () => {
    const admin = await aPersonWith('admin');
    expect(await idp.services.permissions.can(admin.id, 'gatehouse.users', 'read')).toBe(true);
    expect(await decision(question(admin.id))).toEqual({ decision: false });
    const all = await anApplication(idp, { access_evaluation: 'all_users', permissions_filter: ['*'] });
    expect(await decision(question(admin.id), all)).toEqual({ decision: false });
    const named = { access_evaluation: 'all_users' as const, permissions_filter: ['gatehouse.users:*'] };
    expect(await decision(question(admin.id), await anApplication(idp, named))).toEqual({ decision: true });
  });
});

describe('one evaluation', () => {
  it('permits what a role of the user permits, and nothing else', async () => {
    expect(await decision({ subject: ann, action: read, resource })).toEqual({ decision: true });
    const urn = { type: 'urn:a:b', id: '7', properties: { owner: 'x' } };
    const more = { subject: ann, action: { name: 'make', properties: {} }, resource: urn, context: { time: 'now' } };
    expect(await decision(more)).toEqual({ decision: true });
    for (const denied of [
      { subject: ann, action: remove, resource },
      { subject: ann, action: read, resource: { type: 'salaries', id: '1' } },
      { subject: { type: 'user', id: 'nobody' }, action: read, resource },
      { subject: { ...ann, type: 'machine' }, action: read, resource },
      { subject: await aPersonWith(), action: read, resource },
      { subject: ann, action: { name: "read' OR 1=1 --" }, resource },
    ])
      expect(await decision(denied)).toEqual({ decision: false });
  });

  it('denies as soon as the role is removed, the account disabled, or the application closed to the user', async () => {
    const { roles, accounts, applications } = idp.services;
    const bob = await aPersonWith('editor');
    const question = { subject: bob, action: read, resource };
    expect(await decision(question)).toEqual({ decision: true });
    await accounts.setActive(bob.id, false);
    expect(await decision(question)).toEqual({ decision: false });
    await accounts.setActive(bob.id, true);
    await roles.setRoles(bob.id, []);
    expect(await decision(question)).toEqual({ decision: false });
    const closed = await anApplication(idp, { access_evaluation: 'all_users', access: { roles: ['support'] } });
    expect(await decision({ ...question, subject: ann }, closed)).toEqual({ decision: false });
    await roles.assign(ann.id, 'support');
    expect(await decision({ ...question, subject: ann }, closed)).toEqual({ decision: true });
    expect(await applications.find(closed.clientId)).toBeDefined();
  });

  it('permits only permissions that are visible to the application', async () => {
    const filtered = await anApplication(idp, { access_evaluation: 'all_users', permissions_filter: ['articles:r*'] });
    expect(await decision({ subject: ann, action: read, resource }, filtered)).toEqual({ decision: true });
    expect(await decision({ subject: ann, action: write, resource }, filtered)).toEqual({ decision: false });
  });

  it('records denied evaluations in the audit log', async () => {
    const bob = await aPersonWith('editor');
    await decision({ subject: bob, action: remove, resource });
    const [event] = await idp.services.audit.list({ types: ['access.evaluated'], limit: 1 });
    expect(event).toMatchObject({
      outcome: 'failure',
      clientId: app.clientId,
      actorApp: app.clientId,
      subjectId: bob.id,
      data: { denied: [{ subject: bob.id, permission: 'articles:delete' }] },
    });
  });

  itOnSqlite('records repeated denials as one entry, and no identifier that nobody has', async () => {
    const asking = await anApplication(idp, { access_evaluation: 'all_users' });
    const entries = () => idp.services.audit.list({ types: ['access.evaluated'], clientId: asking.clientId });
    for (let round = 0; round < 5; round += 1) {
      await decision({ subject: ann, action: { name: `invented-${round}` }, resource }, asking);
      await decision({ subject: { type: 'user', id: `${round} wrote this` }, action: read, resource }, asking);
    }
    const [invented, real, ...more] = await entries();
    expect([real?.subjectId, invented?.subjectId, more]).toEqual([ann.id, null, []]);
    expect(JSON.stringify(await entries())).not.toContain('wrote this');
    // An application that asks about every account fills a minute's entries, and then one more.
    for (let person = 0; person < 65; person += 1)
      await decision({ subject: await aPersonWith('editor'), action: remove, resource }, asking);
    expect((await entries()).length).toBeLessThanOrEqual(61);
    const many = Array.from({ length: 100 }, (_, at) => ({ action: { name: `${at}${'x'.repeat(250)}` } }));
    const other = await anApplication(idp, { access_evaluation: 'all_users' });
    await ask('evaluations', { subject: ann, resource, evaluations: many }, { as: other });
    const [entry] = await idp.services.audit.list({ types: ['access.evaluated'], clientId: other.clientId });
    expect(entry?.data).toMatchObject({ count: 100, denied: expect.any(Array) });
    expect(JSON.stringify(entry?.data).length).toBeLessThan(8000);
  });

  itOnSqlite.each([
    [{}, ['subject', 'action', 'resource']],
    [
      { subject: { type: 'user' }, action: { name: 5 }, resource: { type: '', id: '1' } },
      ['subject.id', 'action.name', 'resource.type'],
    ],
    [{ subject: 'ann', action: { name: 'read' }, resource }, ['subject']],
  ])('rejects %j and names the fields', async (json, fields) => {
    const page = await ask('evaluation', json);
    expect([page.status, page.headers['content-type']]).toEqual([400, 'application/problem+json']);
    expect(page.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path)).toEqual(fields);
  });

  itOnSqlite('rejects a body that is not JSON, returns the request id, and answers only POST', async () => {
    const client = httpClient(idp.issuer);
    const headers = { authorization: basic(app.clientId, app.clientSecret) };
    const form = await client.post('/access/v1/evaluation', { form: { subject: 'x' }, headers });
    expect(form.status).toBe(415);
    const withId = { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' };
    const page = await ask('evaluation', { subject: ann, action: read, resource }, { headers: withId });
    expect(page.headers['x-request-id']).toBe(withId['x-request-id']);
    expect((await client.get('/access/v1/evaluation', { headers })).status).toBe(405);
  });
});

describe('several evaluations', () => {
  const several = async (json: object) => {
    const page = await ask('evaluations', { subject: ann, resource, ...json });
    expect(page.status, page.text).toBe(200);
    return page.json();
  };
  const denied = { decision: false };
  const yes = { decision: true };

  it('take defaults from the request, and may replace them', async () => {
    const evaluations = [{ action: write }, {}, { action: remove }, { resource: { type: 'salaries', id: '9' } }];
    expect(await several({ action: read, evaluations })).toEqual({ evaluations: [yes, yes, denied, denied] });
  });

  it('are all executed, or end at the first decision that the semantic names', async () => {
    const evaluations = [{ action: read }, { action: remove }, { action: write }];
    const by = (evaluations_semantic: string) => several({ evaluations, options: { evaluations_semantic } });
    expect(await by('execute_all')).toEqual({ evaluations: [yes, denied, yes] });
    expect(await by('deny_on_first_deny')).toEqual({ evaluations: [yes, denied] });
    expect(await by('permit_on_first_permit')).toEqual({ evaluations: [yes] });
  });

  it('are a single evaluation when the list is empty', async () => {
    expect(await several({ action: read })).toEqual(yes);
    expect(await several({ action: remove, evaluations: [] })).toEqual(denied);
    expect((await ask('evaluations', { subject: ann, evaluations: [] })).status).toBe(400);
  });

  it('answer an invalid evaluation with a rejection and its reason, and still answer the others', async () => {
    const evaluations = [{ action: read }, { action: { name: 7 } }, {}];
    const { evaluations: [first, second, third] = [] } = (await several({ evaluations })) as { evaluations: object[] };
    expect(first).toEqual(yes);
    expect(second).toEqual({
      decision: false,
      context: { error: { status: 400, message: expect.stringContaining('action.name') } },
    });
    expect(third).toMatchObject({ decision: false, context: { error: { status: 400 } } });
  });

  it('are rejected when there are too many, or when the semantic is unknown', async () => {
    const evaluations = Array.from({ length: 101 }, () => ({ action: read }));
    expect((await ask('evaluations', { subject: ann, resource, evaluations })).status).toBe(400);
    const options = { evaluations_semantic: 'sometimes' };
    expect(
      (await ask('evaluations', { subject: ann, resource, evaluations: [{ action: read }], options })).status,
    ).toBe(400);
  });
});

describe('the caller', () => {
  const question = () => ({ subject: ann, action: read, resource });
  const statusOf = async (authorization: string | undefined) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const page = await httpClient(idp.issuer).post('/access/v1/evaluation', { json: question(), headers });
    if (page.status === 401) expect(page.headers['www-authenticate']).toContain(`realm="${accessApi(idp.issuer)}"`);
    return page.status;
  };

  it('is an application with its secret or with a client_credentials token', async () => {
    expect(await statusOf(basic(app.clientId, app.clientSecret))).toBe(200);
    const machine = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [accessApi(idp.issuer)],
    });
    const form = { grant_type: 'client_credentials', resource: accessApi(idp.issuer) };
    const { access_token } = (await postAs(idp, machine, '/token', form)).json();
    expect(await statusOf(`Bearer ${access_token}`)).toBe(200);
    await idp.services.applications.setEnabled(machine.applicationId, false);
    expect(await statusOf(`Bearer ${access_token}`)).toBe(401);
    expect(await statusOf(basic(machine.clientId, machine.clientSecret))).toBe(401);
  });

  it('is rejected with any other credential', async () => {
    const spa = await anApplication(idp, { token_endpoint_auth_method: 'none' });
    const person = await aUser(idp.services);
    const { tokens } = await signIn(httpClient(idp.issuer), app, person);
    for (const wrong of [
      undefined,
      'Basic !',
      basic(app.clientId, 'wrong'),
      basic('nobody', app.clientSecret),
      basic(spa.clientId, ''),
      `Bearer ${tokens.access_token}`,
      'Bearer made-up',
    ])
      expect(await statusOf(wrong), wrong).toBe(401);
    const tries: number[] = [];
    while (tries.length < 60 && !tries.includes(429)) tries.push(await statusOf('Bearer made-up'));
    expect(tries).toContain(429);
    await idp.services.db.rateLimit.deleteMany();
  });
});
