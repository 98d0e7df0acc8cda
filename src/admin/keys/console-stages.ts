// The keys of one use in their order: next, active, retired, each with its dates.
import type { KeyInfo } from '../../keys/keyring.ts';
import type { KeyState, RotationPolicy } from '../../keys/rotation.ts';
import { type PageText, t } from '../../texts/text.ts';
import type { Block, Cell, Stage } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';

const NAMES: Record<KeyState, Pick<Stage, 'title' | 'empty' | 'tone'>> = {
  next: { title: t('console.keys.stage.next'), empty: t('console.keys.none-published'), tone: 'warn' },
  active: { title: t('console.keys.stage.active'), empty: t('console.keys.none'), tone: 'good' },
  retired: { title: t('console.keys.stage.retired'), empty: t('console.keys.none'), tone: 'plain' },
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
  const { kid, alg, use, state, createdAt, activatedAt, retiredAt, certificate, canSignFrom } = key;
  const rows: Record<KeyState, { label: PageText; value: Cell }[]> = {
    next: [
      { label: t('console.keys.published'), value: createdAt },
      { label: t('console.keys.can-sign-from'), value: canSignFrom },
    ],
    active: [
      { label: t('console.keys.signs-since'), value: activatedAt ?? createdAt },
      ...(use === 'oidc'
        ? [{ label: t('console.keys.rotates'), value: plus(activatedAt ?? createdAt, policy.rotateAfterSeconds) }]
        : []),
    ],
    retired: [
      { label: t('console.keys.stage.retired'), value: retiredAt },
      { label: t('console.keys.removed'), value: plus(retiredAt ?? createdAt, policy.retireAfterSeconds) },
    ],
  };
  const expires = certificate
    ? [{ label: t('console.keys.certificate-expires'), value: expiryCell(certificate.until, now) }]
    : [];
  return { name: { text: alg, small: kid }, rows: [...rows[state], ...expires] };
}
