// Why Basic credentials failed that were sent without the form-encoding of RFC 6749 2.3.1, which many clients leave out.
import type { Vault } from '../../../../base/platform/vault.ts';
import type { RuleViolation } from '../../../../core/rejections/rules.ts';
import { type ClientSource, matchingSecret } from '../../store/clients.ts';
import type { KoaContextWithOIDC } from '../library.ts';

export interface CredentialFaultDependencies {
  clients: ClientSource;
  vault: Vault;
}

const REMEDY =
  'the client_id and the secret, each form-encoded (RFC 6749 2.3.1), or a secret of letters, digits, - and _';

/** Undefined where the encoding is not the fault. Call it for a request that failed to authenticate the client. */
export function unencodedCredentials(
  ctx: KoaContextWithOIDC,
  { clients, vault }: CredentialFaultDependencies,
): RuleViolation | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(ctx.get('Authorization')) ?? [];
  const [id, ...rest] = Buffer.from(encoded ?? '', 'base64')
    .toString()
    .split(':');
  if (id === undefined || rest.length === 0) return undefined;
  const secret = rest.join(':');
  const violation = (rule: 'client' | 'secret', received: string): RuleViolation => ({
    rule,
    received,
    expected: REMEDY,
  });
  if (decoded(id) === undefined) return violation('client', 'a client_id with a % that is not encoded as %25');
  if (decoded(secret) === undefined) return violation('secret', 'a secret with a % that is not encoded as %25');
  if (ctx.oidc.client === undefined)
    return rest.length > 1
      ? violation('client', 'a client_id that is not registered: a : in it must be encoded as %3A')
      : undefined;
  if (secret.includes('+'))
    return violation('secret', 'a secret with a + that is not encoded as %2B: it stands for a space');
  return decoded(secret) !== secret &&
    matchingSecret(clients.cachedApplicationOf(ctx.oidc.client.clientId), secret, vault)
    ? violation('secret', 'the right secret, with a % that is not encoded as %25')
    : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
