// Fills a database as after years of use: users, sessions, mails, rejected requests and audit rows, and 2,000 applications. Only the rows
// that the measured pages display get a MAC afterwards, because a million take long.
import type { Database } from '../../src/base/storage/database.ts';
import { client, serviceProvider } from './target.ts';

const APPLICATIONS = 2000;
const DAY_MS = 86_400_000;
/** Number of days over which the rows that the overview counts are spread. */
const DAYS = 60;

/** Fills it. Each statement creates all rows of a table. */
export async function fill({ db, kind }: Database, rows: number): Promise<void> {
  const sqlite = kind === 'sqlite';
  const start = Date.now() - DAYS * DAY_MS;
  const stepMs = Math.floor((DAYS * DAY_MS - 60_000) / rows);
  const numbers = (count: number) =>
    sqlite
      ? `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${count - 1})`
      : `WITH n AS (SELECT generate_series(0, ${count - 1})::bigint AS n)`;
  const moment = (ms: string) =>
    sqlite
      ? `strftime('%Y-%m-%dT%H:%M:%S.000+00:00', (${ms}) / 1000, 'unixepoch')`
      : `(date_trunc('second', to_timestamp((${ms}) / 1000)) AT TIME ZONE 'UTC')`;
  const at = moment(`${start} + n * ${stepMs}`);
  const later = moment(`${Date.now() + 365 * DAY_MS}`);
  const oneOf = (texts: string[]) =>
    `CASE n % ${texts.length} ${texts.map((text, i) => `WHEN ${i} THEN '${text}'`).join(' ')} END`;
  const name = oneOf(['Ann Smith', 'Bob Jones', 'Cem Kaya', 'Dora Orlova', 'Eve Miller']);
  const lastName = oneOf(['Smith', 'Jones', 'Kaya', 'Orlova', 'Miller']);
  // Empty where `signRows` (target.ts) writes it.
  const mac = `CASE WHEN n < 1000 OR n > ${rows - 1000} OR n = 5000 THEN '' ELSE 'x' END`;
  const login = `'user-' || n`;
  const mail = `'user-' || n || '@example.com'`;
  const run = (statement: string) => db.$executeRawUnsafe(statement);

  await run(
    `INSERT INTO roles (id, name, description, source, created_at) VALUES ('r-many', 'many', '', 'local', ${later})`,
  );
  await run(`INSERT INTO users (id, username, username_key, email, email_key, name, search_key, name_key, last_name_key, is_active, created_at, updated_at, mac)
    ${numbers(rows)} SELECT 'sub-' || n, ${login}, ${login}, ${mail}, ${mail}, ${name},
    ${login} || '\n' || ${mail} || '\n' || lower(${name}), lower(${name}), lower(${lastName}), n % 1000 <> 0, ${at}, ${at}, ${mac} FROM n`);
  await run(`INSERT INTO user_roles (user_id, role_id, mac) SELECT id, 'r-many', mac FROM users WHERE id LIKE 'sub-%'`);
  for (const [id, of] of [
    ['oidc', client.id],
    ['saml', serviceProvider.entityId],
  ]) {
    await run(`INSERT INTO applications (id, client_id, protocol, name, name_key, enabled, consent, access, metadata, source, created_at, updated_at)
      ${numbers(APPLICATIONS / 2)} SELECT '${id}-' || n, 'https://${id}-' || n || '.example.com/', a.protocol,
      'Application ' || n || ' (${id})', 'application ' || n || ' (${id})', true, a.consent, a.access, a.metadata, 'local', ${later}, ${later}
      FROM n, (SELECT * FROM applications WHERE client_id = '${of}') a`);
  }
  const expires = Math.floor(Date.now() / 1000) + 86_400;
  const payload = `'{"uid":"s-' || n || '","accountId":"sub-' || n || '","loginTs":${expires - 86_400},"exp":${expires},"acr":"urn:gatehouse:acr:password","amr":["pwd"],"authorizations":{"https://oidc-' || (n % 1000) || '.example.com/":{"sid":"x' || n || '","grantId":"g' || n || '"}}}'`;
  await run(`INSERT INTO oidc_artifacts (id, model, payload, uid, account_id, expires_at, mac)
    ${numbers(rows)} SELECT 'a-' || n, 'Session', ${payload}, 's-' || n, 'sub-' || n, ${expires}, ${mac} FROM n`);
  await run(`INSERT INTO session_devices (uid, user_id, user_agent, address, created_at, last_seen_at, expires_at)
    ${numbers(rows)} SELECT 's-' || n, 'sub-' || n, 'Mozilla/5.0', '192.0.2.' || (n % 250), ${at}, ${at}, ${later} FROM n`);
  const body = "'v1.0.' || hex(randomblob(1500))";
  await run(`INSERT INTO mail_messages (id, recipient, subject, body_sealed, tries, next_try_at, sent_at, failed_at, created_at)
    ${numbers(rows)} SELECT 'm-' || n, ${mail}, 'New sign-in', ${sqlite ? body : "repeat('x', 3000)"}, 1, ${later},
    CASE WHEN n % 100 < 98 THEN ${at} END, CASE WHEN n % 100 = 98 THEN ${at} END, ${at} FROM n`);
  await run(`INSERT INTO rejections (id, at, endpoint, reason, message, client_id, subject_id, request_id, data, expires_at)
    ${numbers(rows)} SELECT 'C' || n, ${at}, 'authorize', 'redirect_uri', 'The redirect URI is not registered.',
    'https://oidc-' || (n % 1000) || '.example.com/', 'sub-' || n, 'req-' || n, '{"redirect_uri":"https://x.example/"}', ${later} FROM n`);
  const type = oneOf(['sign-in.completed', 'sign-in.password', 'session.ended', 'token.issued', 'sign-in.completed']);
  await run(`INSERT INTO audit_events (at, type, outcome, reason, actor_id, subject_id, client_id, address, request_id, data, chain_seq, chain_hash)
    ${numbers(rows)} SELECT ${at}, ${type}, CASE WHEN n % 10 = 1 THEN 'failure' ELSE 'success' END, NULL, 'sub-' || n, 'sub-' || n,
    'https://oidc-' || (n % 1000) || '.example.com/', '192.0.2.1', 'req-' || n, '{}', 100000000 + n, 'x' FROM n`);
  if (!sqlite) await run('VACUUM ANALYZE');
}

/** The pages to measure, by name. */
export async function pagesOf({ db }: Database): Promise<Record<string, string>> {
  const [oldest] = await db.asStored.user.findMany({ where: { id: 'sub-9' }, select: { createdAt: true } });
  const early = oldest?.createdAt.getTime();
  const after = (key: string, id: string) => Buffer.from(JSON.stringify([key, id])).toString('base64url');
  const found = await db.asStored.application.findFirst({ where: { clientId: client.id }, select: { id: true } });
  const role = await db.role.findFirst({ where: { name: 'many' }, select: { id: true } });
  const day = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  const aClient = encodeURIComponent('https://oidc-5.example.com/');
  return {
    overview: '/admin',
    users: '/admin/users',
    'users, last page': `/admin/users?after=${early}.sub-9`,
    'users, by name': '/admin/users?sort=name',
    'users, by name, last page': `/admin/users?sort=name&after=${after('eve miller', 'sub-999')}`,
    'users, by username, reversed': '/admin/users?sort=-username',
    'users, search for a username': '/admin/users?q=user-77777',
    'users, search for an email': '/admin/users?q=user-77777%40example',
    'users, search for a name': '/admin/users?q=ann+s',
    'users, search for a last name, by name': '/admin/users?q=smith&sort=name',
    'users, search (nobody)': '/admin/users?q=nobody-at-all',
    'users, disabled': '/admin/users?state=disabled',
    'users, disabled, by name': '/admin/users?state=disabled&sort=name',
    'users, active, by name': '/admin/users?state=active&sort=name',
    'users, by role': '/admin/users?role=many',
    'users, by role, by name': '/admin/users?role=many&sort=name',
    'users, by role and search': '/admin/users?role=many&q=user-77',
    'users, by role, disabled': '/admin/users?role=many&state=disabled',
    'users, suggested': '/admin/suggest/users?q=us',
    'one user': '/admin/users/sub-5000',
    applications: '/admin/applications',
    'applications, last page': `/admin/applications?after=${after('application 998 (saml)', 'x')}`,
    'applications, reversed': '/admin/applications?sort=-name',
    'applications, by sign-ins': '/admin/applications?sort=-sign-ins',
    'applications, search': '/admin/applications?q=application+999',
    'applications, search (none)': '/admin/applications?q=zzzzzz',
    'applications, suggested': '/admin/suggest/applications?q=app',
    'one application': `/admin/applications/${found?.id}`,
    APIs: '/admin/apis',
    connections: '/admin/connections',
    roles: '/admin/roles',
    'roles, permissions': '/admin/roles/permissions',
    'roles, members of one': `/admin/roles/${role?.id}/members`,
    'roles, members of one, search': `/admin/roles/${role?.id}/members?q=user-77`,
    'roles, applications of one': `/admin/roles/${role?.id}/applications`,
    'signing keys': '/admin/keys',
    'access check, of one and one': `/admin/access-check?user=user-5000&app=${client.id}`,
    'access check, by request': '/admin/access-check?request=req-5000',
    'rejected requests': '/admin/rejections',
    'rejected requests, last page': `/admin/rejections?after=${early}.C9`,
    'rejected requests, oldest first': '/admin/rejections?sort=at',
    'rejected requests, by client': `/admin/rejections?client=${aClient}`,
    'rejected requests, by request': '/admin/rejections?request=req-5000',
    sessions: '/admin/sessions',
    'sessions, last page': `/admin/sessions?after=${early}.s-9`,
    'sessions, oldest first': '/admin/sessions?sort=since',
    'sessions, of one user': '/admin/sessions?user=user-5000',
    audit: '/admin/audit',
    'audit, last page': '/admin/audit?before=60',
    'audit, by type': '/admin/audit?type=sign-in.password&outcome=failure',
    'audit, by type (none)': '/admin/audit?type=key.created',
    'audit, by user': '/admin/audit?user=user-5000',
    'audit, by client': `/admin/audit?client=${aClient}`,
    'audit, failures since a day': `/admin/audit?outcome=failure&from=${day}`,
    mail: '/admin/mail',
    'mail, last page': `/admin/mail?after=${early}.m-9`,
    'mail, failed': '/admin/mail?state=failed',
    'mail, waiting': '/admin/mail?state=waiting',
    'mail, failed, last page': `/admin/mail?state=failed&after=${early}.m-9`,
  };
}
