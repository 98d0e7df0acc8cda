// /api/admin/keys: the public side of the signing keys, and their rotation.

import { z } from 'zod';
import { rule } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { KeyInfo, RotationOutcome } from '../../core/keys/keyring.ts';
import { keyAlgs, keyUses, type RotationRequest } from '../../core/keys/rotation.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { iso, jsonOf, time } from '../api/parts.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';

const tag = 'Keys';

const key = z
  .object({
    kid: z.string(),
    use: z.enum(keyUses),
    alg: z.string(),
    state: z.enum(['next', 'active', 'retired']),
    created_at: time,
    activated_at: time.nullable(),
    retired_at: time.nullable(),
    can_sign_from: time.nullable().describe('Of a next key: when it has been published long enough'),
    certificate: z.object({ pem: z.string(), fingerprint: z.string(), valid_until: time }).nullable(),
  })
  .meta({ id: 'Key' });
const outcome = z.object({
  outcome: z.enum(['rotated', 'published', 'published-already', 'too-early', 'nothing-to-activate', 'superseded']),
  activated: z.array(z.string()).describe('Keys that sign from now on'),
  published: z.array(z.string()).describe('Keys that were published'),
  kid: z.string().nullable().describe('The next key'),
  ready_at: time.nullable().describe('When it may sign, and so when a rotation that was too early is possible'),
});

/** /keys and /keys/rotate. */
export function keyEndpoints(keys: KeyAdmin): Endpoint[] {
  return [
    endpoint('listKeys', 'GET /keys', {
      tag,
      needs: ['gatehouse.keys:read'],
      summary: 'The signing keys: next, active and retired',
      response: z.object({ items: z.array(key) }),
      handle: async () => ({ body: { items: (await keys.list()).map(keyJson) } }),
    }),
    endpoint('rotateKeys', 'POST /keys/rotate', {
      tag,
      needs: ['gatehouse.keys:write'],
      summary: 'Makes the next key the active one',
      description:
        'OpenID Connect clients follow automatically. SAML keys take two calls, because the other side has to read the metadata again: the first publishes the next certificate, the second, with activate, signs with it.',
      body: z
        .strictObject({
          use: z.enum(keyUses),
          alg: z.enum(keyAlgs).optional().describe('OpenID Connect: this algorithm only; all of them when absent'),
          activate: z.boolean().default(false).describe('SAML: sign with the published certificate'),
          force: z
            .boolean()
            .default(false)
            .describe('Do not wait until it has been published long enough: after a leak'),
        })
        .refine(({ use, alg }) => alg === undefined || use === 'oidc', { path: ['alg'], ...rule('alg-of-oidc') })
        .meta({ dependentSchemas: { alg: { properties: { use: { const: 'oidc' } } } } }),
      response: outcome,
      handle: async ({ body, by }) => ({ body: outcomeJson(await keys.rotate(body, by)) }),
    }),
  ];
}

function keyJson(one: KeyInfo) {
  const { pem = '', fingerprint = '', until } = one.certificate ?? {};
  return jsonOf(key, one, {
    can_sign_from: iso(one.canSignFrom),
    certificate: until ? { pem, fingerprint, valid_until: iso(until) } : null,
  });
}

function outcomeJson(result: RotationOutcome) {
  const published = 'published' in result ? result.published : result.outcome === 'published' ? [result.kid] : [];
  return {
    outcome: result.outcome,
    activated: 'activated' in result ? result.activated : [],
    published,
    kid: 'kid' in result ? result.kid : null,
    ready_at: 'readyAt' in result ? iso(result.readyAt) : null,
  };
}

// The signing keys and their rotation, which the keyring audits itself.

type KeyAdmin = ReturnType<typeof createKeyAdmin>;

/** The keyring, as administrators use it. `rotate` throws StepUpNeeded. */
export function createKeyAdmin({ keyring }: AdminServices) {
  return {
    list: (): Promise<KeyInfo[]> => keyring.list(),
    async rotate(request: RotationRequest, by: Actor): Promise<RotationOutcome> {
      assertFreshProof(by, 'keys.rotate');
      return keyring.rotate(request, by);
    },
  };
}
