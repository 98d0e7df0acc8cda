// Fills a database as after years of use: as many users, groups, applications, sessions, tokens, consents, mails, rejected requests, audit rows
// and rows of queues each. `signRows` (target.ts) gives the rows their MACs afterwards. Everybody is in ten groups, which are five levels deep;
// group 0 is at the top, group 1 has a tenth of the users, group 2 has all, group 3 all requests. The administrator is in 50, owns group 3, and
// has as many consents, API keys and app passwords as one person may have, or two hundred. The oldest tenth has a role of its own.
import type { Database } from '../../src/base/storage/database.ts';
import { client, directory, person, serviceProvider } from './target.ts';

/** Groups directly below each. */
const CHILDREN = 20;
const DAY_MS = 86_400_000;
/** Number of days over which the rows that the overview counts are spread. */
const DAYS = 60;

/** Fills it. Each statement creates all rows of a table. */
export async function fill({ db, kind }: Database, rows: number): Promise<void> {
  const sqlite = kind === 'sqlite';
  const [GROUPS, APPLICATIONS] = [rows, rows];
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
  const login = `'user-' || n`;
  const mail = `'user-' || n || '@example.com'`;
  const run = (statement: string) => db.$executeRawUnsafe(statement);

  await run(
    `INSERT INTO roles (id, name, description, source, created_at) VALUES
      ('r-many', 'many', '', 'local', ${later}), ('r-oldest', 'oldest', '', 'local', ${later})`,
  );
  await run(`INSERT INTO users (id, username, username_key, email, email_key, name, search_key, name_key, last_name_key, is_enabled, created_at, updated_at)
    ${numbers(rows)} SELECT 'sub-' || n, ${login}, ${login}, ${mail}, ${mail}, ${name},
    ${login} || '\n' || ${mail} || '\n' || lower(${name}), lower(${name}), lower(${lastName}), n % 1000 <> 0, ${at}, ${at} FROM n`);
  await run(`INSERT INTO user_roles (user_id, role_id) SELECT id, 'r-many' FROM users WHERE id LIKE 'sub-%'`);
  await run(`INSERT INTO user_roles (user_id, role_id) ${numbers(rows / 10)} SELECT 'sub-' || n, 'r-oldest' FROM n`);
  await run(`INSERT INTO groups (id, name, name_key, path, created_at, updated_at)
    ${numbers(GROUPS)} SELECT 'g-' || n, 'Group ' || n, 'group ' || n, '/Group ' || n, ${later}, ${later} FROM n`);
  const below = numbers(GROUPS);
  await run(`INSERT INTO group_children (parent_id, child_id)
    ${below} SELECT 'g-' || (n / ${CHILDREN}), 'g-' || n FROM n WHERE n > 0`);
  const levels = [1, CHILDREN, CHILDREN ** 2, CHILDREN ** 3, CHILDREN ** 4].map((step) => `n / ${step}`);
  for (const ancestor of levels)
    await run(`INSERT INTO group_ancestors (group_id, ancestor_id)
      ${below} SELECT 'g-' || n, 'g-' || (${ancestor}) FROM n WHERE TRUE ON CONFLICT DO NOTHING`);
  const members = 'INSERT INTO group_members (group_id, user_id, source)';
  for (let at = 0; at < 10; at += 1)
    await run(`${members} ${numbers(rows)} SELECT 'g-' || ((n * 10 + ${at * 977}) % ${GROUPS - 10} + 10), 'sub-' || n, 'direct'
      FROM n WHERE TRUE ON CONFLICT DO NOTHING`);
  await run(`${members} ${numbers(rows)} SELECT 'g-1', 'sub-' || n, 'direct' FROM n WHERE n % 10 = 0`);
  await run(`${members} ${numbers(rows)} SELECT 'g-2', 'sub-' || n, 'direct' FROM n`);
  await run(
    `${members} ${numbers(50)} SELECT 'g-' || (n * 7 + 100), id, 'direct' FROM n, users WHERE username = 'alice'`,
  );
  await run(
    `INSERT INTO group_owners (group_id, user_id, covers) SELECT 'g-3', id, '["r-many"]' FROM users WHERE username = 'alice'`,
  );
  await run(`INSERT INTO group_roles (group_id, role_id) VALUES ('g-2', 'r-many'), ('g-4', 'r-many')`);
  for (const [id, of] of [
    ['oidc', client.id],
    ['saml', serviceProvider.entityId],
  ]) {
    await run(`INSERT INTO applications (id, client_id, protocol, name, name_key, enabled, consent, access, metadata, source, created_at, updated_at)
      ${numbers(APPLICATIONS / 2)} SELECT '${id}-' || n, 'https://${id}-' || n || '.example.com/', a.protocol,
      'Application ' || n || ' (${id})', 'application ' || n || ' (${id})', true, a.consent, a.access, a.metadata, 'local', ${later}, ${later}
      FROM n, (SELECT * FROM applications WHERE client_id = '${of}') a`);
  }
  await run(`UPDATE applications SET access = 'roles' WHERE id LIKE 'oidc-%5'`);
  await run(`INSERT INTO application_groups (application_id, group_id)
    SELECT id, 'g-' || CASE WHEN id LIKE 'oidc-%55' THEN 5 ELSE 100 END FROM applications WHERE id LIKE 'oidc-%5'`);
  const expires = Math.floor(Date.now() / 1000) + 86_400;
  const payload = `'{"uid":"s-' || n || '","accountId":"sub-' || n || '","loginTs":${expires - 86_400},"exp":${expires},"acr":"urn:gatehouse:acr:password","amr":["pwd"],"authorizations":{"https://oidc-' || (n % ${APPLICATIONS / 2}) || '.example.com/":{"sid":"x' || n || '","grantId":"g' || n || '"}}}'`;
  await run(`INSERT INTO oidc_artifacts (id, model, payload, uid, account_id, expires_at)
    ${numbers(rows)} SELECT 'a-' || n, 'Session', ${payload}, 's-' || n, 'sub-' || n, ${expires} FROM n`);
  await run(`INSERT INTO session_devices (uid, user_id, user_agent, address, created_at, last_seen_at, expires_at)
    ${numbers(rows)} SELECT 's-' || n, 'sub-' || n, 'Mozilla/5.0', '192.0.2.' || (n % 250), ${at}, ${at}, ${later} FROM n`);
  const body = "'v1.0.' || hex(randomblob(1500))";
  // Jobs delete old rows of these, so they are of today.
  const today = moment(`${Date.now()} - n * 500`);
  await run(`INSERT INTO mail_messages (id, recipient, subject, body_sealed, tries, next_try_at, sent_at, failed_at, created_at)
    ${numbers(rows)} SELECT 'm-' || n, ${mail}, 'New sign-in', ${sqlite ? body : "repeat('x', 3000)"}, 1, ${later},
    CASE WHEN n % 100 < 98 THEN ${today} END, CASE WHEN n % 100 = 98 THEN ${today} END, ${today} FROM n`);
  await run(`INSERT INTO rejections (id, at, endpoint, reason, message, client_id, subject_id, request_id, data, expires_at)
    ${numbers(rows)} SELECT 'C' || n, ${at}, 'authorize', 'redirect_uri', 'The redirect URI is not registered.',
    'https://oidc-' || (n % 1000) || '.example.com/', 'sub-' || n, 'req-' || n, '{"redirect_uri":"https://x.example/"}', ${later} FROM n`);
  // Before the first entry of the chain: jobs that follow it have nothing to do.
  const type = oneOf(['sign-in.completed', 'sign-in.password', 'session.ended', 'token.issued', 'sign-in.completed']);
  await run(`INSERT INTO audit_events (at, type, outcome, reason, actor_id, subject_id, client_id, address, request_id, data, chain_seq, chain_hash)
    ${numbers(rows)} SELECT ${at}, ${type}, CASE WHEN n % 10 = 1 THEN 'failure' ELSE 'success' END, NULL, 'sub-' || n, 'sub-' || n,
    'https://oidc-' || (n % 1000) || '.example.com/', '192.0.2.1', 'req-' || n, '{}', n - 100000000, 'x' FROM n`);
  // A tenth of the events of groups are about group 1, the others about all of them, twenty each.
  const group = `CASE WHEN n % 10 = 0 THEN 'g-1' ELSE 'g-' || (n % ${GROUPS}) END`;
  await run(`INSERT INTO audit_events (at, type, outcome, actor_id, subject_id, data, chain_seq, chain_hash)
    ${numbers(rows)} SELECT ${at}, ${oneOf(['group.member-added', 'group.member-removed', 'group.request-granted'])}, 'success', 'sub-0',
    'sub-' || n, '{"groupId":"' || ${group} || '","groupName":"Group","via":"direct"}', n - 200000000, 'x' FROM n`);
  await fillTokens();
  await fillQueues();
  if (!sqlite) await run('VACUUM ANALYZE');

  /** What people have at applications. The administrator comes after the others. */
  async function fillTokens(): Promise<void> {
    const [{ id: alice } = { id: '' }] = await db.asStored.user.findMany({
      where: { username: person.username },
      select: { id: true },
    });
    const where = { clientId: client.id };
    const { id: app } = await db.asStored.application.findFirstOrThrow({ where, select: { id: true } });
    const who = (own: number) => `CASE WHEN n < ${own} THEN '${alice}' ELSE 'sub-' || n END`;
    const apps = `'oidc-' || (n % ${APPLICATIONS / 2})`;
    await run(`INSERT INTO consents (id, user_id, application_id, granted, granted_at, updated_at)
      ${numbers(rows)} SELECT 'c-' || n, ${who(200)}, ${apps}, '{"scopes":["openid","profile"],"claims":[],"resources":{}}', ${at}, ${at} FROM n`);
    await run(
      `INSERT INTO application_users (application_id, user_id, first_used_at) ${numbers(rows)} SELECT ${apps}, ${who(200)}, ${at} FROM n`,
    );
    for (const model of ['Grant', 'RefreshToken', 'AccessToken'])
      await run(`INSERT INTO oidc_artifacts (id, model, payload, grant_id, account_id, client_id, expires_at)
        ${numbers(rows)} SELECT '${model}-' || n, '${model}', '{"accountId":"sub-' || n || '","clientId":"https://oidc-' || (n % ${APPLICATIONS / 2}) || '.example.com/"}', 'g' || n, 'sub-' || n,
        'https://oidc-' || (n % ${APPLICATIONS / 2}) || '.example.com/', ${expires} FROM n`);
    await run(`INSERT INTO api_keys (id, user_id, name, secret_hash, last_four, permissions, created_at, expires_at)
      ${numbers(rows)} SELECT 'k-' || n, ${who(50)}, 'Key ' || n, 'h' || n, 'abcd', '[]', ${at}, ${later} FROM n`);
    await run(`INSERT INTO app_passwords (id, user_id, application_id, name, secret_hash, created_at)
      ${numbers(rows)} SELECT 'w-' || n, ${who(50)}, '${app}', 'Password ' || n, 'h' || n, ${at} FROM n`);
    await run(`INSERT INTO known_browsers (id, user_id, token_hash, user_agent, address, created_at, last_seen_at, expires_at)
      ${numbers(rows)} SELECT 'b-' || n, ${who(100)}, 'h' || n, 'Mozilla/5.0', '192.0.2.1', ${at}, ${at}, ${later} FROM n`);
    await run(`INSERT INTO mail_tokens (id, user_id, purpose, token_hash, expires_at, used_at, created_at)
      ${numbers(rows)} SELECT 't-' || n, 'sub-' || n, 'invite', 'h' || n, CASE WHEN n % 100 = 0 THEN ${later} ELSE ${at} END, CASE WHEN n % 100 > 1 THEN ${at} END, ${at} FROM n`);
    await run(`INSERT INTO group_requests (id, group_id, user_id, reason, state, created_at, expires_at)
      ${numbers(rows)} SELECT 'q-' || n, 'g-3', 'sub-' || n, 'Because', 'open', ${at}, ${later} FROM n`);
  }

  /** What goes to others, and comes from a directory; nothing is sent, as all is paused. */
  async function fillQueues(): Promise<void> {
    const ended = `CASE WHEN n % 100 < 98 THEN ${today} END, CASE WHEN n % 100 = 98 THEN ${today} END, CASE WHEN n % 100 > 97 THEN '503' END`;
    await run(`INSERT INTO event_streams (id, name, kind, url, format, body, events, applications, groups, at_least, within_minutes,
      quiet_minutes, enabled, created_at, updated_at, cursor, paused_at, last_error)
      VALUES ('st-1', 'Stream', 'webhook', 'https://siem.example/', 'json', 'thin', '["*"]', '[]', '[]', 1, 60, 60, true, ${later}, ${later},
      2000000000, ${later}, '503')`);
    await run(`INSERT INTO event_deliveries (id, stream_id, seq, until_seq, tries, next_try_at, created_at, done_at, failed_at, last_error)
      ${numbers(rows)} SELECT 'd-' || n, 'st-1', n, n, 1, ${later}, ${today}, ${ended} FROM n`);
    await run(`INSERT INTO logout_deliveries (id, client_id, account_id, tries, next_try_at, created_at, done_at, failed_at, last_error)
      ${numbers(rows)} SELECT 'l-' || n, 'https://oidc-' || (n % 1000) || '.example.com/', 'sub-' || n, 1, ${later}, ${today}, ${ended} FROM n`);
    await run(`INSERT INTO scim_users (user_id, connection_id, external_id, content, deleted_at, created_at, updated_at)
      ${numbers(rows)} SELECT 'sub-' || n, '${directory.id}', 'e-' || n, '{"userName":"user-' || n || '"}',
      CASE WHEN n % 10 = 0 THEN ${today} END, ${today}, ${today} FROM n`);
    const where = { id: 'oidc-1' };
    const provisioned = await db.asStored.application.findUniqueOrThrow({ where, select: { metadata: true } });
    const url = 'https://app.example/scim/v2';
    const metadata = JSON.stringify({ ...JSON.parse(provisioned.metadata), provision: { url } });
    await db.asStored.application.update({ where, data: { metadata } });
    await run(`INSERT INTO provisioning_targets (application_id, url, audit_seq, looked_at, paused_at, paused_by, stopped_at)
      VALUES ('oidc-1', '${url}', 0, ${later}, ${later}, 'administrator', ${later})`);
    await run(`INSERT INTO provisioned_objects (id, application_id, kind, local_id, remote_id, is_active, pending, is_held, next_try_at, last_error)
      ${numbers(rows)} SELECT 'p-' || n, 'oidc-1', 'user', 'sub-' || n, 'r-' || n, n % 20 <> 0,
      CASE n % 20 WHEN 1 THEN 'update' WHEN 2 THEN 'deactivate' ELSE '' END, false, ${later}, CASE WHEN n % 20 = 1 THEN '400' END FROM n`);
    await run(`INSERT INTO provisioned_members (application_id, group_id, user_id, state)
      ${numbers(rows)} SELECT 'oidc-1', 'g-2', 'sub-' || n, 'in' FROM n`);
  }
}

/** The pages to measure, by name. */
export async function pagesOf({ db }: Database): Promise<Record<string, string>> {
  const [oldest] = await db.asStored.user.findMany({ where: { id: 'sub-9' }, select: { createdAt: true } });
  const early = oldest?.createdAt.getTime();
  const after = (...keys: string[]) => Buffer.from(JSON.stringify(keys)).toString('base64url');
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
    'users, active': '/admin/users?state=active',
    'users, without an invitation': '/admin/users?state=needed',
    'users, active, by name': '/admin/users?state=active&sort=name',
    'users, locked': '/admin/users?state=locked',
    'users, invited': '/admin/users?state=invited',
    'users, whom nobody has seen': '/admin/users?state=unseen',
    'users, whose accounts end': '/admin/users?state=ending',
    'users, by last use': '/admin/users?sort=-seen',
    'users, by role': '/admin/users?role=many',
    'users, by role, by name': '/admin/users?role=many&sort=name',
    'users, by role and search': '/admin/users?role=many&q=user-77',
    'users, by role of the oldest': '/admin/users?role=oldest',
    'users, by role, disabled': '/admin/users?role=many&state=disabled',
    'users, suggested': '/admin/suggest/users?q=us',
    'one user': '/admin/users/sub-5000',
    'one user, sessions': '/admin/users/sub-5000/sessions',
    'one user, roles and groups': '/admin/users/sub-5000/roles',
    'one user, activity': '/admin/users/sub-5000/activity',
    'one user, deletion': '/admin/users/sub-5000/delete',
    applications: '/admin/applications',
    'applications, last page': `/admin/applications?after=${after('application 998 (saml)', 'x')}`,
    'applications, reversed': '/admin/applications?sort=-name',
    'applications, by sign-ins': '/admin/applications?sort=-sign-ins',
    'applications, SAML': '/admin/applications?protocol=saml',
    'applications, disabled': '/admin/applications?state=disabled',
    'applications, search': '/admin/applications?q=application+999',
    'applications, search (none)': '/admin/applications?q=zzzzzz',
    'applications, suggested': '/admin/suggest/applications?q=app',
    'one application': `/admin/applications/${found?.id}`,
    'one application, people, everyone': '/admin/applications/oidc-1/people',
    'one application, people of a group': '/admin/applications/oidc-5/people',
    'one application, people of a large group': '/admin/applications/oidc-55/people',
    'one application, people, by username': '/admin/applications/oidc-55/people?sort=username',
    'one application, people, search': '/admin/applications/oidc-55/people?q=user-777',
    'one application, people, search (nobody)': '/admin/applications/oidc-5/people?q=nobody-at-all',
    'one user, applications': '/admin/users/sub-5000/access',
    'one application, activity': '/admin/applications/oidc-5/activity',
    'one application, provisioning': '/admin/applications/oidc-1/provisioning',
    'one application, deletion': '/admin/applications/oidc-1/delete',
    APIs: '/admin/apis',
    connections: '/admin/connections',
    directories: '/admin/scim',
    'one directory, with its leavers': `/admin/scim/${directory.id}`,
    'one directory, deletion': `/admin/scim/${directory.id}/delete`,
    'event streams': '/admin/event-streams',
    'one event stream': '/admin/event-streams/st-1',
    'one event stream, given up': '/admin/event-streams/st-1?state=failed',
    'one event stream, a delivery': '/admin/event-streams/st-1/deliveries/d-50',
    deliveries: '/admin/deliveries',
    'import of users': '/admin/import',
    roles: '/admin/roles',
    'roles, permissions': '/admin/roles/permissions',
    'roles, members of one': `/admin/roles/${role?.id}/members`,
    'roles, members of one, search': `/admin/roles/${role?.id}/members?q=user-77`,
    'roles, applications of one': `/admin/roles/${role?.id}/applications`,
    groups: '/admin/groups',
    'groups, last page': `/admin/groups?after=${after('group 995')}`,
    'groups, search': '/admin/groups?q=group+499',
    'groups, search (none)': '/admin/groups?q=zzzzzz',
    'groups, one with all users': '/admin/groups/g-2',
    'groups, members of one': '/admin/groups/g-1',
    'groups, members of one, last page': `/admin/groups/g-1?after=${after('sub-9990 direct')}`,
    'groups, members of one, search': '/admin/groups/g-1?q=user-7777',
    'groups, members of one, search (nobody)': '/admin/groups/g-1?q=nobody-at-all',
    'groups, parts of the top': '/admin/groups/g-0/parts',
    'groups, owners of one': '/admin/groups/g-3/owners',
    'groups, requests to one': '/admin/groups/g-3/requests',
    'groups, applications of one': '/admin/groups/g-5/applications',
    'groups, activity of one': '/admin/groups/g-1/activity',
    'groups, activity of a quiet one': '/admin/groups/g-4999/activity',
    'groups, activity of a quiet one, oldest first': '/admin/groups/g-4999/activity?sort=at',
    'groups, several people at once': '/admin/groups/g-1/bulk',
    'groups, deletion of one with all users': '/admin/groups/g-2/delete',
    'groups, deletion of the top': '/admin/groups/g-0/delete',
    'search of everything, a username': '/admin/search?q=user-77777',
    'search of everything, many people': '/admin/search?q=us',
    'search of everything, a name': '/admin/search?q=ann+smith',
    'search of everything, an application': '/admin/search?q=application+999',
    'search of everything, a group': '/admin/search?q=group+499',
    'search of everything, a setting': '/admin/search?q=session',
    'search of everything, a reference': '/admin/search?q=ABCD-1234',
    'search of everything, words of the documents': '/admin/search?q=reverse+proxy',
    'search of everything, nothing': '/admin/search?q=zzzzzz',
    'search of everything, a letter': '/admin/search?q=a',
    'search of everything, at each key': '/admin/search/suggest?q=us',
    'account page': '/account',
    'account page, applications': '/account/applications',
    'account page, activity': '/account/activity',
    'account page, app passwords': '/account/app-passwords',
    'own groups': '/account/groups',
    'own groups, one of an owner': '/account/groups/g-3',
    'app list': '/dashboard',
    'app list, search': '/dashboard?q=application+99',
    'API keys': '/admin/api-keys',
    'API keys, ended': '/admin/api-keys?state=ended',
    'privacy, with what is stored': '/admin/settings/privacy',
    'signing keys': '/admin/keys',
    'access check, of one and one': `/admin/access-check?user=user-5000&app=${client.id}`,
    'access check, of one person': '/admin/access-check?user=user-5000',
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
    'audit, sign-ins of a week': '/admin/audit?kind=sign-in&range=week',
    'audit, yesterday': '/admin/audit?range=yesterday',
    'audit, by client': `/admin/audit?client=${aClient}`,
    'audit, failures since a day': `/admin/audit?outcome=failure&from=${day}`,
    mail: '/admin/mail',
    'mail, last page': `/admin/mail?after=${early}.m-9`,
    'mail, failed': '/admin/mail?state=failed',
    'mail, waiting': '/admin/mail?state=waiting',
    'mail, failed, last page': `/admin/mail?state=failed&after=${early}.m-9`,
  };
}
