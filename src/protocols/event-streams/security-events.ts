// The events of the audit log as Security Event Tokens (RFC 8417) with events of CAEP 1.0 and RISC 1.0, for receivers of shared signals (SSF 1.0):
// about people who used the application of the receiver, under the `sub` that it knows, and about nobody else.
import { importJWK, SignJWT } from 'jose';
import type { Application, OidcApplication } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Core } from '../../core/core.ts';
import { SSF_SCOPES, ssfApi } from '../../people/rbac/built-in.ts';
import { createSubjects, type Subjects, sectorOfMetadata } from '../oidc/claims/pairwise-subjects.ts';
import type { SealedEvent } from './event.ts';
import type { EventStream, SignalReceiver } from './streams.ts';

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/';
const IDENTIFIER_CHANGED = `${RISC}identifier-changed`;
/** Not requested, but sent to each stream (SSF 1.0 8.1.4.1). */
const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
export const VERIFICATION_REQUESTED = 'event-stream.verification-requested';

type Details = Record<string, unknown>;
type SubjectId = Record<string, string>;

interface Signal {
  uri: string;
  claims: Details;
  /** The address that the event is about, in place of the person, and the one that replaces it. */
  change?: { old: Address & { email: string }; replacement: Address };
}

/** An address in an event, which may not say whether it was verified. */
interface Address {
  email?: unknown;
  emailVerified?: boolean;
}

interface Delivered {
  id: string;
  /** Of the event in the audit chain. */
  seq: number;
  createdAt: Date;
}

/** Whom a token is about, and what it says. */
interface Content {
  subject: SubjectId;
  claims: Details;
}

type SignalOf = (details: Details, at: Date) => Signal | undefined;

const caep =
  (name: string, reason: string, claims: Details = {}): SignalOf =>
  () => ({ uri: `${CAEP}${name}`, claims: { ...claims, reason_admin: { en: reason } } });
const credential = (credential_type: string, change_type: 'create' | 'update' | 'delete', reason: string) =>
  caep('credential-change', reason, { credential_type, change_type });
const risc =
  (name: string): SignalOf =>
  () => ({ uri: `${RISC}${name}`, claims: {} });

/** RISC 1.0 2.5: about the old address. */
const changedAddress: SignalOf = ({ before, after }) => {
  const [old, replacement] = [(before ?? {}) as Address, (after ?? {}) as Address];
  const { email } = old;
  if (typeof email !== 'string' || email === '' || replacement.email === undefined) return undefined;
  return { uri: IDENTIFIER_CHANGED, claims: {}, change: { old: { ...old, email }, replacement } };
};

const endOf = (fields: unknown) => (fields as { activeUntil?: string | null } | undefined)?.activeUntil;

/** The account had ended by then, and now has no end, or a later one. */
const resumed: SignalOf = ({ before, after }, at) => {
  const [endBefore, endAfter] = [endOf(before), endOf(after)];
  const hadEnded = typeof endBefore === 'string' && new Date(endBefore) <= at;
  const isActive = endAfter === null || (endAfter !== undefined && new Date(endAfter) > at);
  return hadEnded && isActive ? { uri: `${RISC}account-enabled`, claims: {} } : undefined;
};

/** The end of one session is no signal: it means one browser, which a logout token names. */
const SIGNALS: Readonly<Record<string, SignalOf>> = {
  'sessions.ended-all': caep('session-revoked', 'Signed out everywhere'),
  'password.set': credential('password', 'create', 'Password set'),
  'password.changed': credential('password', 'update', 'Password changed'),
  'password.reset': credential('password', 'update', 'Password reset'),
  'passkey.enrolled': credential('fido2-platform', 'create', 'Passkey added'),
  'passkey.removed': credential('fido2-platform', 'delete', 'Passkey removed'),
  'totp.enrolled': credential('app', 'create', 'Authenticator app added'),
  'totp.removed': credential('app', 'delete', 'Authenticator app removed'),
  'phone.confirmed': credential('phone-sms', 'create', 'Phone number confirmed'),
  'phone.removed': credential('phone-sms', 'delete', 'Phone number removed'),
  'account.disabled': risc('account-disabled'),
  'account.enabled': risc('account-enabled'),
  'account.deleted': risc('account-purged'),
  'account.ended': risc('account-disabled'),
  'account.updated': (details, at) => resumed(details, at) ?? changedAddress(details, at),
};

/** The types of events of the audit log that can be signals. */
export const signalTypes: readonly string[] = [...Object.keys(SIGNALS), VERIFICATION_REQUESTED];

/** Event types that a receiver can request. */
export const supportedEvents: readonly string[] = [
  ...['session-revoked', 'credential-change'].map((name) => `${CAEP}${name}`),
  ...['account-disabled', 'account-enabled', 'account-purged', 'identifier-changed'].map((name) => `${RISC}${name}`),
];

/** Those that the receiver gets. A changed address only goes to applications that may learn addresses. */
export const deliveredEvents = (requested: readonly string[], application: OidcApplication): string[] =>
  supportedEvents.filter(
    (uri) =>
      (requested.length === 0 || requested.includes(uri)) &&
      (uri !== IDENTIFIER_CHANGED || mayLearnAddresses(application)),
  );

/** Whether the application may receive signals: it is registered for this API with one of its scopes. */
export function isReceiver(application: Application | undefined, issuer: string): application is OidcApplication {
  if (application?.protocol !== 'oidc' || !application.enabled) return false;
  const { resources = [], scope = '' } = application.metadata;
  return (
    resources.includes(ssfApi(issuer)) &&
    scope.split(' ').some((one) => (SSF_SCOPES as readonly string[]).includes(one))
  );
}

/** Whether an application may learn addresses. */
export const mayLearnAddresses = ({ metadata }: OidcApplication): boolean =>
  (metadata.scope ?? '').split(' ').includes('email');

export type SecurityEvents = ReturnType<typeof createSecurityEvents>;

export function createSecurityEvents(services: Core & ApplicationServices) {
  const { applications, db, keyring, settings } = services;
  const { issuer } = services.config;
  let subjects: Subjects | undefined;

  /** The application that made the stream; undefined once it is deleted. Another one may have got its client_id. */
  async function ownerOf({ receiver }: EventStream): Promise<Application | undefined> {
    const found = receiver && (await applications.find(receiver.clientId));
    return found?.id === receiver?.applicationId ? found : undefined;
  }

  async function applicationOf(stream: EventStream): Promise<OidcApplication | undefined> {
    const found = await ownerOf(stream);
    return isReceiver(found, issuer) ? found : undefined;
  }

  async function subjectOf({ metadata }: OidcApplication, accountId: string): Promise<string> {
    subjects ??= await createSubjects(services);
    return subjects.of(sectorOfMetadata(metadata), accountId);
  }

  /** Those of the people who used the application. What a deleted account used, the audit log knows. */
  async function whoUsed({ id, clientId }: OidcApplication, people: readonly string[]): Promise<Set<string>> {
    const [users, rows] = await Promise.all([
      db.user.findMany({ where: { id: { in: [...people] } }, select: { id: true } }),
      db.applicationUser.findMany({ where: { applicationId: id, userId: { in: [...people] } } }),
    ]);
    const whoUsedIt = new Set(rows.map(({ userId }) => userId));
    const existing = new Set(users.map((user) => user.id));
    const gone = people.filter((id) => !existing.has(id));
    if (gone.length === 0) return whoUsedIt;
    const types = ['authorization.granted', 'consent.revoked'];
    const newest = await db.auditEvent.groupBy({
      by: ['subjectId', 'type'],
      where: { subjectId: { in: gone }, clientId, type: { in: types } },
      orderBy: { _max: { id: 'asc' } },
    });
    const lastType = new Map(newest.map(({ subjectId, type }) => [subjectId, type]));
    for (const id of gone) if (lastType.get(id) === 'authorization.granted') whoUsedIt.add(id);
    return whoUsedIt;
  }

  const userOf = async ({ subjectId }: SealedEvent) =>
    subjectId === null ? null : db.user.findUnique({ where: { id: subjectId } });

  /** About the old address; undefined unless it was verified. The new one is named only where it is. */
  async function contentOfChange(
    event: SealedEvent,
    { old, replacement }: NonNullable<Signal['change']>,
  ): Promise<Content | undefined> {
    const user = await userOf(event);
    // Where the event does not say it, as the account is now.
    const isVerified = ({ emailVerified }: Address) => emailVerified ?? user?.emailVerified ?? false;
    if (!isVerified(old)) return undefined;
    const isNamed = typeof replacement.email === 'string' && isVerified(replacement);
    const subject = { format: 'email', email: old.email };
    return { subject, claims: isNamed ? { 'new-value': replacement.email } : {} };
  }

  /** The address of the person, of a deleted one the last. Only a verified one: another may belong to somebody else. */
  async function verifiedAddressOf(event: SealedEvent): Promise<string | undefined> {
    const { before } = JSON.parse(event.data) as { before?: { email?: string | null; emailVerified?: boolean } };
    const person = (await userOf(event)) ?? (event.type === 'account.deleted' ? before : undefined);
    return person?.email && person.emailVerified ? person.email : undefined;
  }

  /** Undefined where the receiver gets nothing of the signal. */
  async function contentOf(
    event: SealedEvent,
    { claims, change }: Signal,
    application: OidcApplication,
    { format }: SignalReceiver,
  ): Promise<Content | undefined> {
    if (change) return contentOfChange(event, change);
    const { subjectId } = event;
    if (subjectId === null) return undefined;
    const email = format === 'email' && mayLearnAddresses(application) ? await verifiedAddressOf(event) : undefined;
    if (email !== undefined) return { subject: { format: 'email', email }, claims };
    return { subject: { format: 'iss_sub', iss: issuer, sub: await subjectOf(application, subjectId) }, claims };
  }

  return {
    ownerOf,

    /** Those of the events that the receiver gets; none while its application may receive nothing. */
    async matching(events: readonly SealedEvent[], stream: EventStream): Promise<SealedEvent[]> {
      const application = await applicationOf(stream);
      if (!application) return [];
      const found = events.filter((event) => signalOf(event, stream, application));
      const people = await whoUsed(application, [...new Set(found.flatMap(({ subjectId }) => subjectId ?? []))]);
      return found.filter(({ type, subjectId }) => type === VERIFICATION_REQUESTED || people.has(subjectId ?? ''));
    },

    /**
     * The Security Event Tokens of deliveries, by their ids: none where the receiver gets nothing of the event now. `jti` and `iat` are the same at
     * each attempt.
     */
    async tokensOf(deliveries: readonly Delivered[], stream: EventStream): Promise<Map<string, string>> {
      const { receiver } = stream;
      const application = await applicationOf(stream);
      const tokens = new Map<string, string>();
      if (!receiver || !application) return tokens;
      const found = await db.auditEvent.findMany({ where: { chainSeq: { in: deliveries.map(({ seq }) => seq) } } });
      const events = new Map(found.map((event) => [event.chainSeq, event]));
      const sign = await signer(application);
      for (const { id, seq, createdAt } of deliveries) {
        const event = events.get(seq);
        const signal = event && signalOf(event, stream, application);
        if (!signal) continue;
        const { uri, claims } = signal;
        const content =
          uri === VERIFICATION
            ? { subject: { format: 'opaque', id: stream.id }, claims }
            : await contentOf(event, signal, application, receiver);
        if (content) tokens.set(id, await sign({ id, createdAt }, content.subject, { [uri]: content.claims }));
      }
      return tokens;
    },
  };

  /** RS256 is what receivers must know (CAEP Interoperability Profile 1.0), unless the settings publish no such key. */
  async function signer({ clientId }: OidcApplication) {
    const listed: readonly string[] = settings.latest().signing_algorithms;
    const wanted = listed.includes('RS256') ? 'RS256' : listed[0];
    const jwk = keyring.jwks().keys.find(({ alg }) => alg === wanted);
    if (!jwk) throw new Error('no key signs security events');
    const { alg, kid } = jwk;
    const key = await importJWK({ ...jwk } as never, alg);
    return ({ id, createdAt }: { id: string; createdAt: Date }, subject: SubjectId, events: Record<string, Details>) =>
      new SignJWT({ sub_id: subject as never, events: events as never })
        .setProtectedHeader({ alg, kid, typ: 'secevent+jwt' })
        .setIssuer(issuer)
        .setAudience(clientId)
        .setJti(id)
        .setIssuedAt(createdAt)
        .sign(key);
  }
}

/** What the event means to the receiver. An address goes only to applications that may learn addresses. */
function signalOf(event: SealedEvent, stream: EventStream, application: OidcApplication): Signal | undefined {
  const { type, outcome, at, actorId, actorApp, subjectId } = event;
  if (outcome !== 'success') return undefined;
  const details = JSON.parse(event.data) as Details;
  if (type === VERIFICATION_REQUESTED) {
    const { streamId, state } = details;
    return streamId === stream.id
      ? { uri: VERIFICATION, claims: typeof state === 'string' ? { state } : {} }
      : undefined;
  }
  const signal = Object.hasOwn(SIGNALS, type) ? SIGNALS[type]?.(details, at) : undefined;
  if (!signal || subjectId === null || !deliveredEvents(stream.events, application).includes(signal.uri))
    return undefined;
  if (!signal.uri.startsWith(CAEP)) return signal;
  const isSystem = actorId === null && actorApp === null;
  const initiating_entity = isSystem ? 'system' : actorId === subjectId ? 'user' : 'admin';
  const event_timestamp = Math.floor(at.getTime() / 1000);
  return { ...signal, claims: { ...signal.claims, event_timestamp, initiating_entity } };
}
