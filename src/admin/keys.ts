// Rotation of the signing keys by a person, audited.
import type { Audit, By } from '../audit/audit.ts';
import type { KeyInfo, Keyring, RotationOutcome } from '../keys/keyring.ts';
import type { RotationRequest } from '../keys/rotation.ts';

export interface KeyAdmin {
  list(): Promise<KeyInfo[]>;
  rotate(request: RotationRequest, by: By): Promise<RotationOutcome>;
}

export function createKeyAdmin({ keyring, audit }: { keyring: Keyring; audit: Audit }): KeyAdmin {
  return {
    list: () => keyring.list(),

    async rotate(request, by) {
      const outcome = await keyring.rotate(request);
      const data = { use: request.use, forced: request.force === true };
      if (outcome.outcome === 'rotated') {
        const after = { activated: outcome.activated, published: outcome.published };
        await audit.record({ ...by, type: 'key.activated', outcome: 'success', data: { ...data, ...after } });
      } else if (outcome.outcome === 'published') {
        await audit.record({ ...by, type: 'key.created', outcome: 'success', data: { ...data, kid: outcome.kid } });
      }
      return outcome;
    },
  };
}
