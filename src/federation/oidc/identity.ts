// From verified claims to an identity, with the deviations of each vendor (connections/presets). Pure.
import type { OidcConnection } from '../../connections/connection.ts';
import type { Quirks } from '../../connections/presets/preset.ts';
import { claimAt, groupNames, textOf } from '../accounts/mapping.ts';
import { FederationError } from '../faults.ts';
import type { UpstreamIdentity } from '../upstream.ts';

type Claims = Readonly<Record<string, unknown>>;

/**
 * Throws upstream_not_allowed for a user of another organization.
 *
 * @param signed the claims of the ID token: only these say how the user authenticated, and for which organization
 */
export function identityOf(
  { settings }: Pick<OidcConnection, 'settings'>,
  quirks: Quirks,
  { claims, signed, idToken }: { claims: Claims; signed: Claims; idToken: string },
): UpstreamIdentity {
  assertMember('tid', signed.tid, settings.allowed_tenants);
  assertMember('hd', signed.hd, settings.allowed_hosted_domains);
  // Attributes that users write themselves may be claims of the userinfo, under any name.
  const { auth_time: authTime, acr, amr, sid } = signed;
  return {
    subject: subjectOf(claims, quirks.subject ?? [settings.subject_claim]),
    claims: { ...claims, ...verifiedAddress(claims, quirks) },
    groups: settings.groups_claim === undefined ? undefined : groupsOf(claims, settings.groups_claim, quirks),
    acr: typeof acr === 'string' ? acr : undefined,
    amr: Array.isArray(amr) ? amr.filter((one) => typeof one === 'string') : [],
    authTime: typeof authTime === 'number' && authTime > 0 ? new Date(authTime * 1000) : undefined,
    session: { kind: 'oidc', sid: textOf(sid), idToken },
  };
}

/** Empty when a part is missing: then nobody is signed in. */
function subjectOf(claims: Claims, parts: readonly string[]): string {
  const values = parts.map((part) => textOf(claimAt(claims, part)));
  return values.every((value) => value !== undefined) ? values.join(':') : '';
}

/** A missing claim means no groups, so that a user who left the last one loses its role. */
function groupsOf(claims: Claims, path: string, quirks: Quirks): UpstreamIdentity['groups'] {
  const names = groupNames(claimAt(claims, path));
  const links = claims._claim_names;
  const isOverage =
    quirks.groups === 'entra-overage' &&
    ((typeof links === 'object' && links !== null && Object.hasOwn(links, path)) || claims.hasgroups !== undefined);
  const isReadable = names !== undefined || claimAt(claims, path) === undefined;
  return { names: names ?? [], isComplete: !isOverage && isReadable };
}

/** When the vendor's address counts as verified. */
function verifiedAddress(claims: Claims, quirks: Quirks): Record<string, unknown> {
  const isVerified = claims.email_verified === true || claims.email_verified === 'true';
  const email = textOf(claims.email) ?? '';
  switch (quirks.email) {
    case 'never':
      return { email_verified: false };
    // Google hosts these addresses; of others it only knows that they were verified once.
    case 'google':
      return { email_verified: isVerified && (/@gmail\.com$/i.test(email) || textOf(claims.hd) !== undefined) };
    // The administrator of any tenant can write any address; Microsoft says whether its domain is proven.
    case 'entra':
      return { email_verified: [true, 1, '1', 'true'].includes(claims.xms_edov as never) ? true : undefined };
    default:
      return {};
  }
}

function assertMember(claim: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.length === 0 || allowed.includes(String(value))) return;
  throw new FederationError('upstream_not_allowed', {
    rule: 'tenant',
    message: `The user isn’t from an allowed organization (${claim}).`,
    expected: allowed.join(', '),
    received: value === undefined ? 'nothing' : String(value),
  });
}
