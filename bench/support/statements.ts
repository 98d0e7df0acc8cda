// Each hot statement beside the same query as Prisma would run it, on tables of a small installation.

import { statements as consents } from '../../src/applications/consents/consents.ts';
import { limits } from '../../src/base/limits.ts';
import { type Database, transaction } from '../../src/base/storage/database.ts';
import { statements as directory } from '../../src/base/storage/postgresql/directory-revision.ts';
import { statements as singleUse } from '../../src/base/storage/single-use.ts';
import type { SqlValue, Statement } from '../../src/base/storage/statements.ts';
import { statements as audit } from '../../src/core/audit/audit.ts';
import { statements as auditChain } from '../../src/core/audit/chain/chain.ts';
import { statements as upstreamRequests } from '../../src/federation/requests.ts';
import { statements as upstreamSessions } from '../../src/federation/sessions.ts';
import { statements as accounts } from '../../src/people/accounts/account.ts';
import { statements as passwords } from '../../src/people/credentials/stored-password.ts';
import { statements as factors } from '../../src/people/mfa/account-factors.ts';
import { statements as knownBrowsers } from '../../src/people/mfa/known-browsers.ts';
import { statements as rateLimits } from '../../src/people/rate-limits/rate-limits.ts';
import { statements as artifacts } from '../../src/protocols/oidc/store/adapter.ts';
import { statements as clients } from '../../src/protocols/oidc/store/clients.ts';
import { statements as readAhead } from '../../src/protocols/oidc/store/read-ahead.ts';
import { statements as sessionDevices } from '../../src/protocols/oidc/store/sessions/session-devices.ts';
import { statements as sessions } from '../../src/protocols/oidc/store/sessions/session-store.ts';
import { statements as serviceProviders } from '../../src/protocols/saml/metadata/service-providers.ts';
import { statements as samlParticipants } from '../../src/protocols/saml/slo/session-participants.ts';
import { statements as authnRequests } from '../../src/protocols/saml/sso/pending-authn-requests.ts';
import { statements as nameIds } from '../../src/protocols/saml/sso/stored-name-ids.ts';
import { statements as attempts } from '../../src/sign-in/attempts.ts';

export interface Comparison {
  name: string;
  plain(turn: number): Promise<unknown>;
  prisma(turn: number): Promise<unknown>;
  /** The statement exists on PostgreSQL only. */
  isRemote?: true;
}

const ROWS = 5000;
const later = new Date(Date.UTC(2100, 0));
const past = new Date(Date.UTC(2026, 0));
const epoch = BigInt(past.getTime() / 1000);
const inEpoch = BigInt(later.getTime() / 1000);
const payload = JSON.stringify({ iat: 1, exp: 4_102_444_800, scope: 'openid profile', text: 'x'.repeat(600) });
/** As long as a real one; no statement verifies it. */
const MAC = 'm'.repeat(46);
const numbered = <T>(row: (n: number) => T): T[] => Array.from({ length: ROWS }, (_, n) => row(n));
const one = (turn: number) => turn % ROWS;

/** Rows for the statements to find. */
export async function fillTables({ db }: Database): Promise<void> {
  const inPieces = async <T>(rows: T[], create: (data: T[]) => Promise<unknown>) => {
    for (let at = 0; at < rows.length; at += 500) await create(rows.slice(at, at + 500));
  };
  const user = (n: number) => ({
    id: `u${n}`,
    username: `user${n}`,
    usernameKey: `user${n}`,
    emailKey: `user${n}@example.org`,
  });
  await inPieces(numbered(user), (data) => db.asStored.user.createMany({ data }));
  await db.role.createMany({ data: ['a', 'b'].map((id) => ({ id, name: id })) });
  await db.permission.createMany({ data: ['x', 'y', 'z'].map((id) => ({ id, resource: 'r', action: id })) });
  await db.rolePermission.createMany({
    data: ['a', 'b'].flatMap((roleId) => ['x', 'y', 'z'].map((permissionId) => ({ roleId, permissionId }))),
  });
  await inPieces(numbered((n) => ['a', 'b'].map((roleId) => ({ userId: `u${n}`, roleId }))).flat(), (data) =>
    db.asStored.userRole.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({ userId: `u${n}`, hash: 'h'.repeat(97), mustChange: false, long: true, changedAt: past })),
    (data) => db.asStored.passwordCredential.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({ id: `b${n}`, userId: `u${n}`, tokenHash: `h${n}`, expiresAt: later })),
    (data) => db.asStored.knownBrowser.createMany({ data }),
  );
  const artifact = (model: string) => (n: number) => ({
    id: `${model}${n}`,
    model,
    payload,
    uid: `${model}-uid${n}`,
    grantId: `g${n}`,
    accountId: `u${n}`,
    expiresAt: inEpoch,
    mac: MAC,
  });
  for (const model of ['AccessToken', 'Session', 'AuthorizationCode', 'Interaction'])
    await inPieces(numbered(artifact(model)), (data) => db.oidcArtifact.createMany({ data }));
  for (const protocol of ['oidc', 'saml'])
    await db.asStored.application.createMany({
      data: Array.from({ length: 20 }, (_, n) => ({
        id: `${protocol}${n}`,
        clientId: `${protocol}${n}`,
        protocol,
        name: `${protocol}${n}`,
        metadata: payload,
      })),
    });
  await db.asStored.clientSecret.createMany({
    data: Array.from({ length: 20 }, (_, n) => ({ id: `s${n}`, applicationId: `oidc${n}`, secretHash: 'h' })),
  });
  await inPieces(
    numbered((n) => ({
      id: `u${n}`,
      connectionId: 'c',
      purpose: 'sign-in',
      boundTo: 'uid',
      dataSealed: payload,
      answerId: `a${n}`,
      expiresAt: later,
    })),
    (data) => db.upstreamRequest.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({
      id: `us${n}`,
      sessionUid: 's',
      connectionId: 'c',
      userId: `u${n}`,
      subject: 's',
      dataSealed: payload,
      expiresAt: later,
    })),
    (data) => db.asStored.upstreamSession.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({ applicationId: 'oidc1', userId: `u${n}`, firstUsedAt: past })),
    (data) => db.applicationUser.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({ uid: `a${n}`, userId: `u${n}`, factors: '[]', data: '{}', expiresAt: later })),
    (data) => db.asStored.signInAttempt.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({ key: `k${n}`, points: 1, expiresAt: BigInt(later.getTime()) })),
    (data) => db.rateLimit.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({ id: `q${n}`, applicationId: 'saml1', browserHash: 'b', data: payload, expiresAt: later })),
    (data) => db.asStored.samlRequest.createMany({ data }),
  );
  await inPieces(
    numbered((n) => ({ id: `n${n}`, userId: `u${n}`, applicationId: 'saml1', value: `v${n}` })),
    (data) => db.asStored.samlNameId.createMany({ data }),
  );
  await inPieces(
    numbered(() => ({ type: 'sign-in.completed', outcome: 'success', at: past })),
    (data) => db.auditEvent.createMany({ data }),
  );
}

/** Every hot statement and its like in Prisma, on an open database. */
export function comparisons({ db, sql }: Database): Comparison[] {
  const query =
    (statement: Statement, values: (turn: number) => SqlValue[]) =>
    (turn: number): Promise<unknown> =>
      sql.query(statement, ...values(turn));
  const execute =
    (statement: Statement, values: (turn: number) => SqlValue[]) =>
    (turn: number): Promise<unknown> =>
      sql.execute(statement, ...values(turn));
  const compare = (
    statement: Statement,
    run: typeof query,
    values: (turn: number) => SqlValue[],
    prisma: (turn: number) => Promise<unknown>,
  ): Comparison => ({ name: statement.name, plain: run(statement, values), prisma });
  const ended = (uid: string) => db.oidcArtifact.findUnique({ where: { id: `ended:${uid}` }, select: { id: true } });
  const artifactColumns = {
    id: true,
    model: true,
    payload: true,
    uid: true,
    grantId: true,
    userCode: true,
    accountId: true,
    clientId: true,
    consumedAt: true,
    mac: true,
  } as const;
  const withRoles = {
    roles: { include: { role: { include: { permissions: { include: { permission: true } } } } } },
  } as const;

  return [
    compare(
      artifacts.find,
      query,
      (turn) => [`AccessToken${one(turn)}`],
      (turn) => db.oidcArtifact.findUnique({ where: { id: `AccessToken${one(turn)}` }, select: artifactColumns }),
    ),
    compare(
      artifacts.findLive,
      query,
      (turn) => [`Session${one(turn)}`],
      async (turn) => {
        const where = { id: `Session${one(turn)}` };
        const row = await db.oidcArtifact.findUnique({ where, select: artifactColumns });
        return row?.uid && (await ended(row.uid));
      },
    ),
    compare(
      artifacts.findByUid,
      query,
      (turn) => [`Session-uid${one(turn)}`, 'Session', Number(epoch)],
      async (turn) => {
        const where = { uid: `Session-uid${one(turn)}`, model: 'Session', expiresAt: { gt: epoch } };
        await db.oidcArtifact.findFirst({ where, select: artifactColumns });
        return ended(where.uid);
      },
    ),
    {
      ...compare(
        readAhead.find,
        query,
        (turn) => [...Array<string>(3).fill(`AccessToken${one(turn)}`), null, Number(epoch)],
        async (turn) => {
          const select = artifactColumns;
          await db.oidcArtifact.findUnique({ where: { id: `AccessToken${one(turn)}` }, select });
          await db.oidcArtifact.findUnique({ where: { id: `Session${one(turn)}` }, select });
          const where = { uid: `Session-uid${one(turn)}`, model: 'Session', expiresAt: { gt: epoch } };
          await db.oidcArtifact.findFirst({ where, select });
          await ended(where.uid);
          await db.directoryRevision.aggregate({ _sum: { revision: true } });
        },
      ),
      isRemote: true,
    },
    {
      ...compare(
        directory.revision,
        query,
        () => [],
        () => db.directoryRevision.aggregate({ _sum: { revision: true } }),
      ),
      isRemote: true,
    },
    compare(
      artifacts.upsert,
      execute,
      (turn) => [`new${turn}`, 'AccessToken', payload, `g${turn}`, null, null, 'u1', 'oidc1', Number(inEpoch), MAC],
      (turn) => {
        const of = { grantId: `g${turn}`, uid: null, accountId: 'u1', clientId: 'oidc1' };
        const row = { payload, ...of, expiresAt: inEpoch, mac: MAC };
        const id = `new${turn}`;
        return db.oidcArtifact.upsert({
          where: { id },
          create: { id, model: 'AccessToken', ...row },
          update: row,
          select: { id: true },
        });
      },
    ),
    compare(
      artifacts.consume,
      execute,
      (turn) => [Number(epoch), `AuthorizationCode${one(turn)}`],
      (turn) =>
        db.oidcArtifact.updateMany({
          where: { id: `AuthorizationCode${one(turn)}`, consumedAt: null },
          data: { consumedAt: epoch },
        }),
    ),
    compare(
      sessions.insert,
      execute,
      (turn) => [`session${turn}`, payload, `suid${turn}`, 'u1', Number(inEpoch), MAC, `suid${turn}`],
      (turn) =>
        transaction(db, async (tx) => {
          if (await tx.oidcArtifact.findUnique({ where: { id: `ended:suid${turn}` }, select: { id: true } })) return;
          const row = { id: `session${turn}`, model: 'Session', payload, uid: `suid${turn}`, accountId: 'u1' };
          await tx.oidcArtifact.create({ data: { ...row, expiresAt: inEpoch, mac: MAC }, select: { id: true } });
        }),
    ),
    compare(
      sessions.replace,
      execute,
      (turn) => {
        const [id, expiry] = [`Session${one(turn)}`, Number(inEpoch)];
        return [id, payload, 'u1', MAC, expiry - 60, expiry, id, payload];
      },
      (turn) =>
        db.oidcArtifact.updateMany({
          where: { id: `Session${one(turn)}`, payload },
          data: { id: `Session${one(turn)}`, payload, accountId: 'u1', expiresAt: inEpoch, mac: MAC },
        }),
    ),
    compare(
      sessions.find,
      query,
      (turn) => [`Session-uid${one(turn)}`],
      async (turn) => {
        const where = { uid: `Session-uid${one(turn)}`, model: 'Session' };
        await db.oidcArtifact.findFirst({ where, select: { ...artifactColumns, expiresAt: true } });
        return ended(where.uid);
      },
    ),
    compare(
      sessionDevices.recordDevice,
      execute,
      (turn) => [`d${turn}`, 'u1', 'b1', 'Agent', '127.0.0.1', past, past, later],
      (turn) => {
        const uid = `d${turn}`;
        const row = { userId: 'u1', browserId: 'b1', userAgent: 'Agent', address: '127.0.0.1', lastSeenAt: past };
        return db.sessionDevice.upsert({
          where: { uid },
          create: { uid, ...row, createdAt: past, expiresAt: later },
          update: { ...row, expiresAt: later },
          select: { uid: true },
        });
      },
    ),
    compare(
      clients.find,
      query,
      (turn) => [`oidc${turn % 20}`],
      (turn) =>
        db.asStored.application.findUnique({
          where: { clientId: `oidc${turn % 20}` },
          include: { secrets: { orderBy: { createdAt: 'desc' } } },
        }),
    ),
    compare(
      accounts.byId,
      query,
      (turn) => [`u${one(turn)}`],
      (turn) => db.asStored.user.findUnique({ where: { id: `u${one(turn)}` }, include: withRoles }),
    ),
    compare(
      accounts.byLogin,
      query,
      (turn) => [`user${one(turn)}`, `user${one(turn)}`],
      (turn) => {
        const key = `user${one(turn)}`;
        return db.asStored.user.findFirst({
          where: { OR: [{ usernameKey: key }, { emailKey: key }] },
          include: withRoles,
        });
      },
    ),
    compare(
      passwords.find,
      query,
      (turn) => [`u${one(turn)}`],
      (turn) => db.asStored.passwordCredential.findUnique({ where: { userId: `u${one(turn)}` } }),
    ),
    compare(
      factors.of,
      query,
      (turn) => Array<string>(6).fill(`u${one(turn)}`),
      (turn) =>
        db.asStored.user.findUnique({
          where: { id: `u${one(turn)}` },
          select: {
            totp: { select: { confirmedAt: true } },
            passkeys: { select: { userVerified: true } },
            phone: { select: { number: true } },
            recoveryCodes: { where: { usedAt: null }, select: { id: true } },
          },
        }),
    ),
    compare(
      knownBrowsers.find,
      query,
      (turn) => browserHashes(turn),
      (turn) =>
        db.asStored.knownBrowser.findMany({
          where: { tokenHash: { in: browserHashes(turn) } },
          select: { id: true, tokenHash: true, trustedUntil: true, expiresAt: true, mac: true },
        }),
    ),
    compare(
      rateLimits.window,
      query,
      // In the order of countAttempt: new row, points, expiry, in flight, limit.
      (turn) => [`w${turn % 100}`, later.getTime(), 0, 0, 1, 1, 1, 1, 1_000_000, 1],
      (turn) =>
        transaction(db, async (tx) => {
          const key = `w${turn % 100}`;
          const row = await tx.rateLimit.findUnique({ where: { key } });
          const expiresAt = BigInt(later.getTime());
          if (row)
            await tx.rateLimit.update({ where: { key }, data: { points: { increment: 1 } }, select: { key: true } });
          else await tx.rateLimit.create({ data: { key, points: 1, expiresAt }, select: { key: true } });
        }),
    ),
    compare(
      rateLimits.backoff,
      query,
      (turn) => [`k${one(turn)}`, later.getTime(), 0, 0, 1, 20, 1, 5, 5, 10, 60_000, 1000, 5, 1, 1_000_000, 1, 5, 1, 1],
      (turn) =>
        transaction(db, async (tx) => {
          const key = `k${one(turn)}`;
          await tx.rateLimit.findUnique({ where: { key } });
          const data = { points: { increment: 1 }, expiresAt: BigInt(later.getTime()) };
          await tx.rateLimit.update({ where: { key }, data, select: { key: true } });
        }),
    ),
    compare(
      rateLimits.find,
      query,
      (turn) => [`k${one(turn)}`],
      (turn) => db.rateLimit.findUnique({ where: { key: `k${one(turn)}` }, select: { points: true, expiresAt: true } }),
    ),
    compare(
      upstreamRequests.store,
      execute,
      (turn) => [`new${turn}`, 'c', 'sign-in', 'uid', payload, null, null, past, later],
      (turn) =>
        db.upstreamRequest.create({
          data: {
            id: `made${turn}`,
            connectionId: 'c',
            purpose: 'sign-in',
            boundTo: 'uid',
            dataSealed: payload,
            createdAt: past,
            expiresAt: later,
          },
        }),
    ),
    compare(
      upstreamRequests.answer,
      query,
      (turn) => [`answer${turn}`, payload, `none${turn}`, 'c', past],
      async (turn) => {
        const where = { id: `none${turn}`, connectionId: 'c', answerId: null, expiresAt: { gt: past } };
        await db.upstreamRequest.updateMany({ where, data: { answerId: `answer${turn}`, answerSealed: payload } });
        return db.upstreamRequest.findUnique({
          where: { id: `none${turn}` },
          select: { purpose: true, boundTo: true },
        });
      },
    ),
    compare(
      upstreamRequests.findAnswered,
      query,
      (turn) => [`a${one(turn)}`, 'sign-in', 'uid', past],
      (turn) =>
        db.upstreamRequest.findMany({
          where: {
            answerId: `a${one(turn)}`,
            purpose: 'sign-in',
            boundTo: 'uid',
            redeemedAt: null,
            expiresAt: { gt: past },
          },
          take: 1,
        }),
    ),
    compare(
      upstreamRequests.redeem,
      execute,
      (turn) => [past, `none${turn}`],
      (turn) =>
        db.upstreamRequest.updateMany({ where: { id: `none${turn}`, redeemedAt: null }, data: { redeemedAt: past } }),
    ),
    compare(
      upstreamRequests.storeIdentity,
      execute,
      (turn) => [payload, later, `u${one(turn)}`],
      (turn) =>
        db.upstreamRequest.update({
          where: { id: `u${one(turn)}` },
          data: { answerSealed: payload, expiresAt: later },
        }),
    ),
    compare(
      upstreamRequests.findIdentity,
      query,
      (turn) => [`u${one(turn)}`, 'uid', past],
      (turn) =>
        db.upstreamRequest.findFirst({
          where: { id: `u${one(turn)}`, boundTo: 'uid', redeemedAt: { not: null }, expiresAt: { gt: past } },
          select: { answerSealed: true },
        }),
    ),
    compare(
      upstreamSessions.begin,
      execute,
      (turn) => [`new${turn}`, '.', 'c', 'u1', 's', 'sid', 'h', payload, MAC, past, later],
      (turn) =>
        db.asStored.upstreamSession.create({
          data: {
            id: `made${turn}`,
            sessionUid: '.',
            connectionId: 'c',
            userId: 'u1',
            subject: 's',
            sid: 'sid',
            nameIdHash: 'h',
            dataSealed: payload,
            mac: MAC,
            createdAt: past,
            expiresAt: later,
          },
        }),
    ),
    compare(
      upstreamSessions.find,
      query,
      (turn) => [`us${one(turn)}`],
      (turn) => db.asStored.upstreamSession.findUnique({ where: { id: `us${one(turn)}` } }),
    ),
    compare(
      upstreamSessions.attach,
      execute,
      (turn) => ['uid', later, MAC, `us${one(turn)}`],
      (turn) =>
        db.asStored.upstreamSession.update({
          where: { id: `us${one(turn)}` },
          data: { sessionUid: 'uid', expiresAt: later, mac: MAC },
        }),
    ),
    compare(
      consents.hasUsed,
      query,
      (turn) => ['oidc1', `u${one(turn)}`],
      (turn) => db.applicationUser.count({ where: { applicationId: 'oidc1', userId: `u${one(turn)}` } }),
    ),
    compare(
      attempts.find,
      query,
      (turn) => [`a${one(turn)}`],
      (turn) => db.asStored.signInAttempt.findUnique({ where: { uid: `a${one(turn)}` } }),
    ),
    compare(
      attempts.save,
      execute,
      (turn) => [`a${one(turn)}`, 'u1', '[]', '{}', later, MAC],
      (turn) => {
        const uid = `a${one(turn)}`;
        const row = { userId: 'u1', factors: '[]', data: '{}', expiresAt: later, mac: MAC };
        return db.asStored.signInAttempt.upsert({
          where: { uid },
          create: { uid, ...row },
          update: row,
          select: { uid: true },
        });
      },
    ),
    compare(
      audit.insert,
      execute,
      () => [
        past,
        'sign-in.completed',
        'success',
        null,
        'u1',
        null,
        'u1',
        'oidc1',
        '127.0.0.1',
        'Agent',
        'r1',
        '{}',
        'salt',
        'digest',
        'mac',
      ],
      () =>
        db.auditEvent.create({
          data: {
            at: past,
            type: 'sign-in.completed',
            outcome: 'success',
            actorId: 'u1',
            subjectId: 'u1',
            clientId: 'oidc1',
            address: '127.0.0.1',
            userAgent: 'Agent',
            requestId: 'r1',
            data: '{}',
            salt: 'salt',
            digest: 'digest',
            rowMac: 'mac',
          },
          select: { id: true },
        }),
    ),
    {
      name: auditChain.link.name,
      plain: (turn) =>
        transaction(db, (tx) => {
          const values = links(turn).flatMap(({ id, seq, hash }) => [id, seq, hash]);
          return sql.in(tx).execute(auditChain.link, ...values);
        }),
      prisma: (turn) =>
        transaction(db, async (tx) => {
          for (const { id, seq, hash } of links(turn))
            await tx.auditEvent.updateMany({ where: { id }, data: { chainSeq: seq, chainHash: hash } });
        }),
    },
    compare(
      serviceProviders.find,
      query,
      (turn) => [`saml${turn % 20}`],
      (turn) =>
        db.asStored.application.findFirst({
          where: { clientId: `saml${turn % 20}`, protocol: 'saml', enabled: true },
          select: { id: true, name: true, updatedAt: true },
        }),
    ),
    compare(
      singleUse.add,
      execute,
      (turn) => [`m${turn}`, later],
      (turn) => db.seenMessage.create({ data: { id: `m${turn}`, expiresAt: later } }),
    ),
    compare(
      authnRequests.save,
      execute,
      (turn) => [`nq${turn}`, 'saml1', `_${turn}`, 'b', payload, later, MAC],
      (turn) =>
        db.asStored.samlRequest.create({
          data: {
            id: `nq${turn}`,
            applicationId: 'saml1',
            requestId: `_${turn}`,
            browserHash: 'b',
            data: payload,
            expiresAt: later,
            mac: MAC,
          },
          select: { id: true },
        }),
    ),
    compare(
      authnRequests.find,
      query,
      (turn) => [`q${one(turn)}`, 'saml1', 'b', past],
      (turn) =>
        db.asStored.samlRequest.findFirst({
          where: {
            id: `q${one(turn)}`,
            applicationId: 'saml1',
            browserHash: 'b',
            usedAt: null,
            expiresAt: { gt: past },
          },
          select: { id: true, applicationId: true, browserHash: true, data: true, mac: true },
        }),
    ),
    compare(
      authnRequests.consume,
      query,
      (turn) => [past, `q${one(turn)}`, 'saml1', 'b', past],
      (turn) =>
        db.asStored.samlRequest.updateManyAndReturn({
          where: {
            id: `q${one(turn)}`,
            applicationId: 'saml1',
            browserHash: 'b',
            usedAt: null,
            expiresAt: { gt: past },
          },
          data: { usedAt: past },
          select: { id: true, applicationId: true, browserHash: true, data: true, mac: true },
        }),
    ),
    compare(
      nameIds.find,
      query,
      (turn) => [`u${one(turn)}`, 'saml1'],
      (turn) =>
        db.asStored.samlNameId.findUnique({
          where: { userId_applicationId: { userId: `u${one(turn)}`, applicationId: 'saml1' } },
          select: { value: true, mac: true },
        }),
    ),
    compare(
      samlParticipants.add,
      execute,
      (turn) => [`p${turn}`, `s${turn}`, 'u1', 'saml1', 'i', 'name', 'format', null, null, past, later],
      (turn) => {
        const key = { sessionUid: `s${turn}`, applicationId: 'saml1', sessionIndex: 'i' };
        const row = { userId: 'u1', nameId: 'name', nameIdFormat: 'format', expiresAt: later };
        return db.samlParticipant.upsert({
          where: { sessionUid_applicationId_sessionIndex: key },
          create: { id: `p${turn}`, ...key, ...row, createdAt: past },
          update: row,
          select: { id: true },
        });
      },
    ),
  ];
}

/** Those of a browser that several accounts signed in from: one is used, the others match no row. */
function browserHashes(turn: number): string[] {
  const { accounts } = limits.knownBrowser;
  return Array.from({ length: accounts }, (_, at) => (at === 0 ? `h${one(turn)}` : `other${at}`));
}

function links(turn: number): { id: number; seq: number; hash: string }[] {
  const first = (turn * 20) % (ROWS - 20);
  // No two rows may have the same place, whatever was there before.
  return Array.from({ length: 20 }, (_, at) => ({ id: first + at + 1, seq: turn * 20 + at + 1, hash: 'h'.repeat(64) }));
}
