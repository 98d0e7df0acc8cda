// The signing keys and their rotation, which the keyring audits itself.

import type { Actor } from '../../core/audit/audit.ts';
import type { KeyInfo, RotationOutcome } from '../../core/keys/keyring.ts';
import type { RotationRequest } from '../../core/keys/rotation.ts';
import type { AdminServices } from '../admin-services.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';

export type KeyAdmin = ReturnType<typeof createKeyAdmin>;

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
