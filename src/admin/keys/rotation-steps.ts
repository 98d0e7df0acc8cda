// The steps of a rotation, with their consequences: OpenID Connect takes one, SAML two, because the other side has to read the metadata again.

import { type PageText, type Text, t } from '../../base/texts/text.ts';
import type { KeyInfo } from '../../core/keys/keyring.ts';
import { type KeyUse, planRotation, type RotationPolicy } from '../../core/keys/rotation.ts';
import { TITLES } from './console-parts.ts';

export interface Rotation {
  use: KeyUse;
  step: 'rotate' | 'publish' | 'activate';
  title: PageText;
  /** The title of the page that asks. */
  question: PageText;
  /** The consequence. */
  lead: PageText;
  button: PageText;
}

const upstream = (use: 'saml-sp' | 'saml-sp-encryption'): Rotation[] => [
  {
    use,
    step: 'publish',
    title: t('console.keys.first-step', { use: TITLES[use] }),
    question: t('console.keys.upstream.publish-question'),
    button: t('console.keys.publish'),
    lead: t('console.keys.upstream.publish-lead'),
  },
  {
    use,
    step: 'activate',
    title: t('console.keys.second-step', { use: TITLES[use] }),
    question: t('console.keys.upstream.activate-question'),
    button: t('console.keys.activate-key'),
    lead: t('console.keys.upstream.activate-lead'),
  },
];

export const ROTATIONS: readonly Rotation[] = [
  {
    use: 'oidc',
    step: 'rotate',
    title: 'OpenID Connect',
    question: t('console.keys.oidc.question'),
    button: t('console.keys.rotate'),
    lead: t('console.keys.oidc.lead'),
  },
  {
    use: 'saml',
    step: 'publish',
    title: t('console.keys.first-step', { use: 'SAML' }),
    question: t('console.keys.saml.publish-question'),
    button: t('console.keys.publish'),
    lead: t('console.keys.saml.publish-lead'),
  },
  {
    use: 'saml',
    step: 'activate',
    title: t('console.keys.second-step', { use: 'SAML' }),
    question: t('console.keys.saml.activate-question'),
    button: t('console.keys.activate-certificate'),
    lead: t('console.keys.saml.activate-lead'),
  },
  ...upstream('saml-sp'),
  ...upstream('saml-sp-encryption'),
];

/** The step that comes next for these keys of one use. */
export function rotationsNow(use: KeyUse, keys: readonly Pick<KeyInfo, 'state'>[]): Rotation[] {
  const hasNext = keys.some(({ state }) => state === 'next');
  const step = use === 'oidc' ? 'rotate' : hasNext ? 'activate' : 'publish';
  return ROTATIONS.filter((one) => one.use === use && one.step === step);
}

/** Why the step is not possible now, and when it is; undefined when it is. */
export function obstacleOf(
  { use, step }: Pick<Rotation, 'use' | 'step'>,
  keys: readonly KeyInfo[],
  dates: { now: Date; policy: RotationPolicy },
): Text | undefined {
  const plan = planRotation(keys, { use, activate: step === 'activate' }, dates);
  if (plan.outcome === 'too-early') return t('console.keys.possible-from', { at: plan.readyAt });
  if (plan.outcome === 'published-already') return t('console.keys.outcome.published-already');
  if (plan.outcome === 'go') return undefined;
  return use === 'oidc' ? t('console.keys.no-next') : t('console.keys.outcome.nothing-to-activate');
}
