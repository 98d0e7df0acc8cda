// Every audit event is a sentence in the activity log.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { accessRules } from '../../src/applications/access-decision.ts';
import type { AuditEntry } from '../../src/core/audit/audit.ts';
import { auditEventTypes } from '../../src/core/audit/events.ts';
import { nameSlot, SAY_REASON, sentenceOf } from '../../src/core/audit/sentence.ts';

const base: AuditEntry = {
  id: 1,
  at: new Date(0),
  type: 'server.started',
  outcome: 'success',
  reason: null,
  actorId: null,
  actorApp: null,
  subjectId: null,
  clientId: null,
  address: null,
  userAgent: null,
  requestId: null,
  data: {},
  erasedBy: null,
};
const names: Record<string, string> = { a: 'Ada', b: 'Bo', pay: 'Payroll', okta: 'Okta' };
const textOf = (event: Partial<AuditEntry>) =>
  String(sentenceOf({ ...base, ...event }, ({ id }) => nameSlot(names[id] ?? id)));

const SRC = path.join(import.meta.dirname, '../../src');
const sourceFiles = () =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
    .map((file) => path.join(SRC, file));

describe('an audit event', () => {
  it.each(auditEventTypes)('has a sentence for each outcome of %s, with and without its parties', (type) => {
    const data = {
      name: 'editor',
      roleName: 'editor',
      setting: 'mfa',
      recipient: 'bo@example.com',
      message: 'a row',
      number: '··12',
      domain: 'example.com',
      groupName: 'Lab',
      childName: 'Physics',
      version: '2026-11',
      amr: ['pwd'],
      country: 'CH',
      api: 'https://api.example.com',
      host: 'vendor.example',
    };
    for (const outcome of ['success', 'failure'] as const)
      for (const parties of [{}, { actorId: 'a', subjectId: 'b', clientId: 'pay' }, { actorId: 'b', subjectId: 'b' }]) {
        const sentence = textOf({ type, outcome, reason: 'unheard_of', ...parties, data });
        expect(sentence).toMatch(/^[A-Z].{8,}[^.]$/);
        expect(sentence).not.toMatch(/[{}…]|undefined|null|unheard_of/);
        expect(sentence).not.toContain(type);
      }
  });

  it('names who did what to whom, with what', () => {
    const parties = { actorId: 'b', subjectId: 'b', clientId: 'pay' };
    const mail = { recipient: 'ann@example.com' };
    expect(textOf({ type: 'mail.sent', data: { ...mail, file: true } })).toBe(
      'An email to ann@example.com was written to a file and not sent, because no mail server is set',
    );
    expect(textOf({ type: 'mail.sent', data: mail })).toBe('The mail server accepted an email to ann@example.com');
    expect(textOf({ type: 'sign-in.completed', ...parties, data: { amr: ['hwk', 'user'] } })).toBe(
      'Bo signed in to Payroll with a passkey',
    );
    expect(textOf({ type: 'sign-in.completed', ...parties, data: { amr: ['fed'], connection: 'okta' } })).toBe(
      'Bo signed in to Payroll with Okta',
    );
    expect(textOf({ type: 'sign-in.completed', ...parties, data: { amr: ['pwd', 'otp', 'mfa'] } })).toBe(
      'Bo signed in to Payroll with a password and an authenticator app',
    );
    expect(textOf({ type: 'role.assigned', actorId: 'a', subjectId: 'b', data: { roleName: 'Editor' } })).toBe(
      'Ada gave Bo the role Editor',
    );
    expect(textOf({ type: 'token.rejected', outcome: 'failure', clientId: 'pay', reason: 'invalid_client' })).toBe(
      'A token request of Payroll was rejected: the client is unknown or failed to authenticate',
    );
    expect(
      textOf({ type: 'account.deleted', actorId: 'a', subjectId: 'b', data: { before: { username: 'bo' } } }),
    ).toBe('Ada deleted Bo’s account');
    expect(textOf({ type: 'application.created', clientId: 'pay', data: { by: 'file' } })).toBe(
      'The configuration file added the application Payroll',
    );
    const changed = { type: 'setting.changed', data: { name: 'session_hours', by: 'file' } } as const;
    expect(textOf(changed)).toBe('The configuration file changed the setting Session length');
    expect(textOf({ ...changed, data: { by: 'file' } })).toBe('The configuration file changed a setting');
    expect(textOf({ ...changed, actorId: 'a', data: { setting: 'mfa' } })).toBe(
      'Ada changed the setting Two-step verification',
    );
  });

  it('has words for each reason that the code writes beside its type', () => {
    const entries = sourceFiles().flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/type: '([a-z.-]+)',\s*outcome: 'failure',\s*reason: ([^,}]+)/g)].flatMap(
        ([, type = '', written = '']) =>
          [...written.matchAll(/'([\w-]+)'/g)].map(([, reason = '']) => ({ type, reason }) as Partial<AuditEntry>),
      ),
    );
    expect(entries).toContainEqual({ type: 'password.reset', reason: 'invalid_link' });
    const ofAccess = Object.values(accessRules).map(({ reason }) => ({ type: 'authorization.rejected', reason }));
    const silent = [...entries, ...ofAccess].filter((entry) => {
      const event = { ...entry, outcome: 'failure', actorId: 'b', subjectId: 'b', clientId: 'pay' } as const;
      return !SAY_REASON.has(String(entry.type)) && textOf(event) === textOf({ ...event, reason: 'unheard_of' });
    });
    expect(silent).toEqual([]);
  });

  it('is named by its type where a later version wrote it', () => {
    expect(textOf({ type: 'later.event' })).toBe('later.event');
  });
});
