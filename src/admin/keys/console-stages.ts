// The keys of one use in their order: next, active, retired, each with its dates.
import type { KeyInfo } from '../../keys/keyring.ts';
import type { KeyState, RotationPolicy } from '../../keys/rotation.ts';
import type { Block, Cell, Stage } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';

const NAMES: Record<KeyState, Pick<Stage, 'title' | 'empty' | 'tone'>> = {
  next: { title: 'Next', empty: 'None published', tone: 'warn' },
  active: { title: 'Active', empty: 'None', tone: 'good' },
  retired: { title: 'Retired', empty: 'None', tone: 'plain' },
};
const ORDER: readonly KeyState[] = ['next', 'active', 'retired'];

interface Dates {
  policy: RotationPolicy;
  now: Date;
}

/** The keys of one use as stages. */
export function keyStages(
  head: Pick<Extract<Block, { kind: 'stages' }>, 'title' | 'lead' | 'actions'>,
  keys: readonly KeyInfo[],
  dates: Dates,
): Block {
  const stages = ORDER.map((state) => ({
    ...NAMES[state],
    items: keys.filter((key) => key.state === state).map((key) => itemOf(key, dates)),
  }));
  return { kind: 'stages', ...head, stages };
}

const plus = (from: Date | null, seconds: number) => from && new Date(from.getTime() + seconds * 1000);

function itemOf(key: KeyInfo, { policy, now }: Dates): Stage['items'][number] {
  const { kid, alg, use, state, createdAt, activatedAt, retiredAt, certificate } = key;
  const rows: Record<KeyState, { label: string; value: Cell }[]> = {
    next: [
      { label: 'Published', value: createdAt },
      { label: 'Can sign from', value: plus(createdAt, policy.publishAheadSeconds) },
    ],
    active: [
      { label: 'Signs since', value: activatedAt ?? createdAt },
      ...(use === 'oidc'
        ? [{ label: 'Rotates', value: plus(activatedAt ?? createdAt, policy.rotateAfterSeconds) }]
        : []),
    ],
    retired: [
      { label: 'Retired', value: retiredAt },
      { label: 'Removed', value: plus(retiredAt ?? createdAt, policy.retireAfterSeconds) },
    ],
  };
  const expires = certificate ? [{ label: 'Certificate expires', value: expiryCell(certificate.until, now) }] : [];
  return { name: { text: alg, small: kid }, rows: [...rows[state], ...expires] };
}
