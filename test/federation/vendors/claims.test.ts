// The shapes of vendors' claims: subject, proof of the address, groups, and who may sign in.
import { describe, expect, it } from 'vitest';
import type { OidcConnection } from '../../../src/federation/connections/connection.ts';
import { presetOf, quirksOf } from '../../../src/federation/connections/presets/presets.ts';
import { checkConnection, partsOf } from '../../../src/federation/connections/schema.ts';
import { identityOf } from '../../../src/federation/oidc/protocol.ts';

function identityAt(preset: string, fields: Record<string, unknown>, claims: Record<string, unknown>) {
  const entry = { id: 'one', kind: 'oidc', preset, name: 'One', client_id: 'gatehouse', ...fields };
  const checked = checkConnection(entry);
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  const { settings } = partsOf(checked.value) as unknown as Pick<OidcConnection, 'settings'>;
  return identityOf({ settings }, quirksOf({ preset, kind: 'oidc' }), { claims, signed: claims, idToken: 'token' });
}

const entra = (claims: Record<string, unknown>) =>
  identityAt('entra', { tenant: 'tenant-a', groups_claim: 'groups' }, { tid: 'tenant-a', oid: 'user-1', ...claims });

describe('an identity of Entra', () => {
  it('is tid:oid, and nothing without one of them', () => {
    expect(entra({ sub: 'pairwise' }).subject).toBe('tenant-a:user-1');
    expect(entra({ sub: 'pairwise', oid: undefined }).subject).toBe('');
  });

  it('has a proven address only with xms_edov (nOAuth)', () => {
    expect(entra({ email: 'a@b.example', email_verified: true }).claims.email_verified).toBeUndefined();
    expect(entra({ email: 'a@b.example', xms_edov: true }).claims.email_verified).toBe(true);
  });

  it('has an incomplete list of groups when they are behind a link', () => {
    expect(entra({ groups: ['g1'] }).groups).toEqual({ names: ['g1'], isComplete: true });
    expect(entra({ _claim_names: { groups: 'src1' } }).groups).toMatchObject({ isComplete: false });
    expect(entra({ hasgroups: true }).groups).toMatchObject({ isComplete: false });
    expect(entra({}).groups).toEqual({ names: [], isComplete: true });
  });
});

describe('an identity of Google', () => {
  it('has a proven address only at gmail.com, or in a Workspace', () => {
    const verified = (claims: Record<string, unknown>) =>
      identityAt('google', {}, { sub: '1', email_verified: true, ...claims }).claims.email_verified;
    expect(verified({ email: 'a@gmail.com' })).toBe(true);
    expect(verified({ email: 'a@corp.example', hd: 'corp.example' })).toBe(true);
    expect(verified({ email: 'a@corp.example' })).toBe(false);
    expect(verified({ email: 'a@gmail.com.attacker.example' })).toBe(false);
  });

  it('is of an allowed Workspace', () => {
    const fields = { allowed_hosted_domains: ['corp.example'] };
    expect(identityAt('google', fields, { sub: '1', hd: 'corp.example' }).subject).toBe('1');
    for (const hd of ['other.example', undefined])
      expect(() => identityAt('google', fields, { sub: '1', hd })).toThrow(
        expect.objectContaining({
          name: 'FederationError',
          reason: expect.stringContaining('isn’t from an allowed organization'),
        }),
      );
  });
});

describe('the preset of Keycloak over SAML', () => {
  it('accepts AES-CBC, which Keycloak encrypts with, and lists what to paste there', () => {
    const entry = {
      id: 'one',
      kind: 'saml',
      preset: 'keycloak-saml',
      name: 'One',
      metadata_url: 'https://sso.example/realm',
    };
    const checked = checkConnection(entry);
    expect(checked).toMatchObject({ ok: true, value: { allow_cbc: true, groups_claim: 'groups' } });
    expect(checkConnection({ ...entry, allow_cbc: false })).toMatchObject({ value: { allow_cbc: false } });
    expect(presetOf('keycloak-saml', 'saml')?.paste).toEqual(['sp_metadata_url', 'sp_entity_id', 'acs_url', 'slo_url']);
  });
});
