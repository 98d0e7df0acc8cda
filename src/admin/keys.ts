// The signing keys as administrators see and turn them. The keyring notes in the audit what came of it.
import type { By } from '../audit/audit.ts';
import type { KeyInfo, Keyring, RotationOutcome } from '../keys/keyring.ts';
import type { RotationRequest } from '../keys/rotation.ts';

export interface KeyAdmin {
  list(): Promise<KeyInfo[]>;
  rotate(request: RotationRequest, by: By): Promise<RotationOutcome>;
}

export function createKeyAdmin({ keyring }: { keyring: Keyring }): KeyAdmin {
  return { list: () => keyring.list(), rotate: (request, by) => keyring.rotate(request, by) };
}
